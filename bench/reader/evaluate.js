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
    const words = wordsOf(text);
    const heading = titleHeading(page);
    rows.push({
      ...of(page),
      ...wordScore(words, wordsOf(page.truth)),
      length: text.length,
      ...(heading && {hasHeading: isThere(heading, words, page.html)}),
    });
  }
  return rows;
}

/** In the text, or above it, as the title of the page says nearly all of it. */
function isThere(heading, words, html) {
  const [, title = ''] = /<title\b[^>]*>([\s\S]*?)<\/title>/i.exec(html) ?? [];
  const said = new Set(wordsOf(textOfHtml(title)));
  const isSaid = heading.filter(word => said.has(word)).length >= 0.75 * heading.length;
  return isSaid || ` ${words.join(' ')} `.includes(` ${heading.join(' ')} `);
}

/** The words of the `h1` that is the title: the one that has half of its words there, else the only one. */
function titleHeading({html, title}) {
  const wanted = new Set(wordsOf(title));
  const found = [...html.replace(/<!--[\s\S]*?-->/g, '').matchAll(/<h1\b[^>]*>([\s\S]*?)<\/h1>/gi)]
    .map(([, inside]) => wordsOf(textOfHtml(inside)))
    .filter(({length}) => length > 0);
  const named = found.find(words => words.filter(word => wanted.has(word)).length * 2 >= words.length);
  return named ?? (found.length === 1 ? found[0] : undefined);
}

/** Parts of a word may be in elements of their own, so these go without leaving a blank. */
function textOfHtml(html) {
  return html
    .replace(/<(?:svg|script|style|button)\b[\s\S]*?<\/(?:svg|script|style|button)>/gi, ' ')
    .replace(/<br\b[^>]*>/gi, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&#(x?)([0-9a-f]+);/gi, (_, hex, code) =>
      String.fromCodePoint(Number.parseInt(code, hex ? 16 : 10)),
    )
    .replace(/&amp;/g, '&')
    .replace(/&[a-z]+;/gi, ' ');
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
    h1: mean(rows.flatMap(({hasHeading}) => (hasHeading === undefined ? [] : [hasHeading ? 1 : 0]))),
    ...Object.fromEntries(
      kinds.map(kind => [kind, mean(rows.filter(row => row.kind === kind).map(({f1}) => f1))]),
    ),
  };
  return figures;
}
