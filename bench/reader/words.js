/** The words of a text, for scores: letters, figures and underscores, in lower case. */
export function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
}

/** How many words two texts have in common, and how many they have. */
export function overlap(found, wanted) {
  const counts = new Map();
  for (const word of wanted) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of found) {
    const left = counts.get(word) ?? 0;
    if (left === 0) continue;
    counts.set(word, left - 1);
    common++;
  }
  return common;
}

/** Word F1 of one page: words as a bag. Two texts without words agree. */
export function wordScore(found, wanted) {
  if (found.length === 0 && wanted.length === 0) return {f1: 1, precision: 1, recall: 1};
  const common = overlap(found, wanted);
  if (common === 0) return {f1: 0, precision: 0, recall: 0};
  const precision = common / found.length;
  const recall = common / wanted.length;
  return {f1: (2 * precision * recall) / (precision + recall), precision, recall};
}

/** What a reader sees of Markdown: no pictures, no targets, no fences. */
export function textOfMarkdown(markdown) {
  return markdown
    .replace(/^[ >\-\d.]*(?:`{3,}|~{3,})[^\n`]*$/gm, ' ')
    .replace(/!\[(?:[^\]\\]|\\.)*\]\((?:[^()\s\\]|\\.|\([^()\s]*\))*(?:\s+"[^"]*")?\)/g, ' ')
    .replace(/\]\((?:[^()\s\\]|\\.|\([^()\s]*\))*(?:\s+"(?:[^"\\]|\\.)*")?\)/g, '] ')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/<https?:[^>\s]*>/g, ' ')
    .replace(/\*\*|[*`~]/g, '');
}
