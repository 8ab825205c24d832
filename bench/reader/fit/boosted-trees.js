/**
 * Gradient boosting of small trees over binned features (histograms, best split first), with soft labels in [0, 1]
 * and a weight for each row.
 */
export const BINS = 64;

/**
 * Edges that divide the values seen into at most `BINS` bins; value <= edge goes left. The lowest value has a bin of its own
 * where many have it, as what is rare says most; the others are divided into bins of like size.
 */
export function edgesOf(values) {
  const sorted = Float64Array.from(values).sort();
  const distinct = [...new Set(sorted)];
  if (distinct.length <= BINS)
    return distinct.slice(0, -1).map((value, at) => Math.fround((value + distinct[at + 1]) / 2));
  const above = sorted.findIndex(value => value > sorted[0]);
  const rest = above * 8 > sorted.length ? sorted.subarray(above) : sorted;
  const edges = new Set(rest === sorted ? [] : [Math.fround((sorted[0] + rest[0]) / 2)]);
  const bins = BINS - edges.size;
  for (let bin = 1; bin < bins; bin++) edges.add(Math.fround(rest[Math.floor((bin * rest.length) / bins)]));
  return [...edges].sort((one, other) => one - other);
}

export function binOf(edges, value) {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value <= edges[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** `bins` is row-major. Returns trees of `{nodes: [{feature, bin, left, right}], leaves: [value]}`; children below 0 are leaves `~n`. */
export function fitTrees({bins, features, labels, weights, pages}, options, random, report = () => {}) {
  const rows = labels.length;
  const scores = new Float64Array(rows);
  const gradients = new Float32Array(rows);
  const curvatures = new Float32Array(rows);
  const {trees: count, leaves, rate, rowShare, columnShare, leastWeight, smooth} = options;
  const pageCount = pages[rows - 1] + 1;
  const trees = [];
  for (let number = 0; number < count; number++) {
    for (let row = 0; row < rows; row++) {
      const chance = 1 / (1 + Math.exp(-scores[row]));
      gradients[row] = weights[row] * (chance - labels[row]);
      curvatures[row] = weights[row] * Math.max(chance * (1 - chance), 1e-4);
    }
    const isIn = Uint8Array.from({length: pageCount}, () => (random() < rowShare ? 1 : 0));
    const chosen = Int32Array.from({length: rows}, (_, row) => row).filter(row => isIn[pages[row]] === 1);
    const columns = Int32Array.from({length: features}, (_, at) => at).filter(() => random() < columnShare);
    const tree = growTree({bins, features, gradients, curvatures}, chosen, columns, {
      leaves,
      leastWeight,
      smooth,
      rate,
    });
    trees.push(tree);
    for (let row = 0; row < rows; row++) scores[row] += leafValue(tree, bins, row * features);
    report(number, scores);
  }
  return trees;
}

function leafValue({nodes, leaves}, bins, start) {
  let node = nodes.length === 0 ? -1 : 0;
  while (node >= 0) {
    const {feature, bin, left, right} = nodes[node];
    node = bins[start + feature] <= bin ? left : right;
  }
  return leaves[~node];
}

function growTree(data, rows, columns, {leaves: most, leastWeight, smooth, rate}) {
  const nodes = [];
  const open = [leafOf(rows, columns, histogramOf(data, rows, columns), {leastWeight, smooth})];
  open[0].slot = undefined;
  const done = [];
  while (open.length + done.length < most) {
    let best = -1;
    for (const [index, leaf] of open.entries())
      if (leaf.split && (best < 0 || leaf.split.gain > open[best].split.gain)) best = index;
    if (best < 0) break;
    const [leaf] = open.splice(best, 1);
    const {feature, bin} = leaf.split;
    const node = nodes.length;
    nodes.push({feature, bin, left: 0, right: 0});
    if (leaf.slot) nodes[leaf.slot.node][leaf.slot.side] = node;
    const left = leaf.rows.filter(row => data.bins[row * data.features + feature] <= bin);
    const right = leaf.rows.filter(row => data.bins[row * data.features + feature] > bin);
    const smaller = left.length < right.length ? left : right;
    const counted = histogramOf(data, smaller, columns);
    const rest = leaf.histogram;
    for (let at = 0; at < rest.length; at++) rest[at] -= counted[at];
    const options = {leastWeight, smooth};
    const histograms = smaller === left ? [counted, rest] : [rest, counted];
    for (const [side, some] of [
      ['left', left],
      ['right', right],
    ]) {
      const child = leafOf(some, columns, histograms[side === 'left' ? 0 : 1], options);
      child.slot = {node, side};
      open.push(child);
    }
  }
  const leaves = [];
  for (const leaf of open) {
    if (leaf.slot) nodes[leaf.slot.node][leaf.slot.side] = ~leaves.length;
    // What the product adds up is whole numbers of 1/4096.
    leaves.push(Math.round(((-rate * leaf.gradient) / (leaf.curvature + smooth)) * 4096) / 4096);
  }
  return {nodes, leaves};
}

function histogramOf({bins, features, gradients, curvatures}, rows, columns) {
  const histogram = new Float64Array(columns.length * BINS * 2);
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index];
    const start = row * features;
    const gradient = gradients[row];
    const curvature = curvatures[row];
    for (let column = 0; column < columns.length; column++) {
      const at = (column * BINS + bins[start + columns[column]]) << 1;
      histogram[at] += gradient;
      histogram[at + 1] += curvature;
    }
  }
  return histogram;
}

function leafOf(rows, columns, histogram, {leastWeight, smooth}) {
  let gradient = 0;
  let curvature = 0;
  // Every row is in one bin of the first column.
  for (let at = 0; at < BINS * 2; at += 2) {
    gradient += histogram[at];
    curvature += histogram[at + 1];
  }
  const whole = (gradient * gradient) / (curvature + smooth);
  let split;
  for (let column = 0; column < columns.length; column++) {
    let leftGradient = 0;
    let leftCurvature = 0;
    for (let bin = 0; bin < BINS - 1; bin++) {
      const at = (column * BINS + bin) << 1;
      leftGradient += histogram[at];
      leftCurvature += histogram[at + 1];
      const rightCurvature = curvature - leftCurvature;
      if (leftCurvature < leastWeight || rightCurvature < leastWeight) continue;
      const rightGradient = gradient - leftGradient;
      const gain =
        (leftGradient * leftGradient) / (leftCurvature + smooth) +
        (rightGradient * rightGradient) / (rightCurvature + smooth) -
        whole;
      if (gain > (split?.gain ?? 1e-9)) split = {gain, feature: columns[column], bin};
    }
  }
  return {rows, gradient, curvature, histogram, split};
}
