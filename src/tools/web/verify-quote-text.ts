import type {VerifyQuoteData} from './verify-quote-data.ts';

type Check = VerifyQuoteData['checks'][number];

/** Words of a near match that are shown. */
const SHOWN_UNITS = 160;

const VERDICTS: Readonly<Record<Check['verdict'], string>> = {
  exact: 'exact',
  same: 'same but for white space, links, quotation marks, dashes or Markdown',
  near: 'NOT as quoted; near',
  absent: 'NOT on the page',
};

/** A line for each quote, numbered where there are several. */
export function renderVerifyQuote({checks}: VerifyQuoteData): string {
  return checks
    .map((check, index) => `${checks.length > 1 ? `${index + 1}. ` : ''}${renderCheck(check)}`)
    .join('\n');
}

function renderCheck(check: Check): string {
  const {verdict, share, text, start, end, link} = check;
  const found = verdict === 'near' ? ` (${Math.floor(100 * (share ?? 0))} %)` : '';
  const words = text === undefined ? [] : [JSON.stringify(cut(text))];
  const position = verdict === 'absent' || start === undefined ? [] : [`${start}-${end}`];
  // The address is the caller's own; what is behind it is all that is news.
  const fragment = link === undefined ? [] : [link.slice(link.indexOf('#'))];
  return [`${VERDICTS[verdict]}${found}`, ...words, ...placeOf(check), ...position, ...fragment].join(' · ');
}

function placeOf({verdict, chunk, section}: Check): readonly string[] {
  if (chunk === undefined || section === undefined) return [];
  const name = section.number === 0 ? '' : `, section ${section.number} ${JSON.stringify(section.heading)}`;
  return [`${verdict === 'absent' ? 'nearest: ' : ''}chunk ${chunk}${name}`];
}

function cut(text: string): string {
  if (text.length <= SHOWN_UNITS) return text;
  const end = (text.charCodeAt(SHOWN_UNITS - 1) & 0xfc00) === 0xd800 ? SHOWN_UNITS - 1 : SHOWN_UNITS;
  return `${text.slice(0, end)}…`;
}
