// For one character.
const UNRESERVED = /[A-Za-z0-9._~-]/;
const HEX = /[0-9A-Fa-f]/;
const TRIPLET = /%[0-9A-Fa-f]{2}/y;

/**
 * FR-WF-NORM-06: triplets of unreserved characters are decoded, the others get upper-case digits.
 *
 * A digit that would complete a stray `%` (`%4%31`) stays encoded: decoded, it would be a triplet
 * that nobody wrote, and normalising twice would change the URL again.
 */
export function normalizePercentEncoding(text: string): string {
  const parts: string[] = [];
  let copied = 0;
  /** The last two characters of the output. */
  let tail = '';
  const emit = (piece: string): void => {
    parts.push(piece);
    tail = (tail + piece).slice(-2);
  };
  for (let at = text.indexOf('%'); at !== -1; at = text.indexOf('%', at + 1)) {
    TRIPLET.lastIndex = at;
    const triplet = TRIPLET.exec(text)?.[0];
    if (triplet === undefined) continue;
    emit(text.slice(copied, at));
    const char = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    const decodable = UNRESERVED.test(char) && !(HEX.test(char) && isStray(tail));
    emit(decodable ? char : triplet.toUpperCase());
    copied = at + 3;
  }
  return parts.join('') + text.slice(copied);
}

/** Whether a hexadecimal digit after this would make, or lead to, a triplet. */
function isStray(tail: string): boolean {
  return tail.endsWith('%') || (tail.startsWith('%') && HEX.test(tail));
}
