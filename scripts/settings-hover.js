/** Gives each setting in a declaration file its sentence as a comment, so that editors show it where the setting is written. */

/** @param {string} text A `.d.ts` of a table of settings, as `tsc` prints it. */
export function withSettingsHover(text) {
  const lines = text.split('\n');
  /** Depth → the line that opened the object there. */
  const opened = [];
  const comments = new Map();
  for (const [at, line] of lines.entries()) {
    const depth = line.search(/\S/) / 4;
    if (/^\s*readonly \w+: \{$/.test(line)) opened[depth] = at;
    const doc = /^\s*readonly doc: (?<literal>'.*'|".*"|`.*`);$/.exec(line)?.groups?.literal;
    const owner = opened[depth - 1];
    if (doc === undefined || owner === undefined) continue;
    const sentence = doc.slice(1, -1).replace(/\\(['"`\\])/g, '$1');
    const indent = ' '.repeat(4 * (depth - 1));
    comments.set(owner, `${indent}/** ${sentence.replaceAll('*/', '*\\/')} */`);
  }
  return lines.flatMap((line, at) => (comments.has(at) ? [comments.get(at), line] : [line])).join('\n');
}
