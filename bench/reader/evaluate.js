import {textOfMarkdown, wordScore, wordsOf} from './words.js';

/** Scores of one converter on labelled pages; `convert` gives Markdown. */
export function evaluate(pages, convert) {
  const rows = [];
  for (const page of pages) {
    let markdown = '';
    try {
      markdown = convert(page.html, page.url) ?? '';
    } catch (error) {
      rows.push({...of(page), failed: String(error.message ?? error), f1: 0, precision: 0, recall: 0});
      continue;
    }
    const text = textOfMarkdown(markdown);
    rows.push({...of(page), ...wordScore(wordsOf(text), wordsOf(page.truth)), length: text.length});
  }
  return rows;
}

function of({id, kind, half, truth}) {
  return {id, kind, half, wanted: wordsOf(truth).length};
}

export function mean(values) {
  return values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Lines for people: F1 over all and by kind, and pages of which nearly all is lost. */
export function summary(rows) {
  const kinds = [...new Set(rows.map(({kind}) => kind))].sort();
  const lost = rows.filter(({recall, wanted}) => wanted > 0 && recall < 0.15).length;
  const figures = {
    f1: mean(rows.map(({f1}) => f1)),
    precision: mean(rows.map(({precision}) => precision)),
    recall: mean(rows.map(({recall}) => recall)),
    lost: lost / rows.length,
    ...Object.fromEntries(
      kinds.map(kind => [kind, mean(rows.filter(row => row.kind === kind).map(({f1}) => f1))]),
    ),
  };
  return figures;
}
