/** Words at each end that a browser looks for; what is no longer than both goes in whole. */
const EDGE_WORDS = 4;
const LONE_SURROGATE = /\p{Cs}/gu;

/**
 * The text directive of a URL (`:~:text=start,end`) that finds `text`, plain text of a page: a browser scrolls to it
 * and marks it. A directive of one part has to be in one block, so what may span two has a start and an end.
 */
export function textFragment(text: string): string {
  const words = text.split(' ').filter(word => word !== '');
  if (words.length <= 2 * EDGE_WORDS) return `:~:text=${encode(words.join(' '))}`;
  const start = words.slice(0, EDGE_WORDS).join(' ');
  const end = words.slice(-EDGE_WORDS).join(' ');
  return `:~:text=${encode(start)},${encode(end)}`;
}

/** Dashes and commas separate the parts of a directive. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(LONE_SURROGATE, '\ufffd')).replaceAll('-', '%2D');
}
