/**
 * The trees as a module of data. Of each tree: the number of its nodes; of each node the feature, the children (below
 * 0 they are leaves) and the threshold; of each leaf its value in 1/4096.
 */
export function printWeights(trees, edges, features) {
  const size = trees.reduce((sum, {nodes, leaves}) => sum + 1 + nodes.length * 7 + leaves.length * 2, 0);
  const bytes = Buffer.alloc(size);
  let at = 0;
  for (const {nodes, leaves} of trees) {
    at = bytes.writeUInt8(nodes.length, at);
    for (const {feature, bin, left, right} of nodes) {
      at = bytes.writeUInt8(feature, at);
      at = bytes.writeInt8(left, at);
      at = bytes.writeInt8(right, at);
      at = bytes.writeFloatLE(edges[feature][bin], at);
    }
    for (const value of leaves) at = bytes.writeInt16LE(Math.round(value * 4096), at);
  }
  const lines = bytes.toString('base64').match(/.{1,1000}/g) ?? [];
  return [
    '/**',
    ' * Written by `node bench/reader/fit/run.js`; docs/decisions/0015-main-content.md says from what. The features are those',
    ' * of `FEATURES`, in this order and number.',
    ' */',
    `export const FITTED_FEATURES = ${features.length};`,
    '',
    'export const WEIGHTS =',
    `${lines.map(line => `  '${line}'`).join(' +\n')};`,
    '',
  ].join('\n');
}
