const LOW_SURROGATE = /[\udc00-\udfff]/;

/** Keeps the head and the tail of a text that is too long, and says between them what is missing. */
export function cutMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const marker = (left: number): string => `\n[… ${left} characters left out …]\n`;
  const room = maxLength - marker(text.length).length;
  const head = Math.ceil(room / 2);
  const tail = text.length - Math.floor(room / 2);
  // Never between the halves of a surrogate pair.
  const headEnd = splitsPair(text, head) ? head - 1 : head;
  const tailStart = splitsPair(text, tail) ? tail + 1 : tail;
  return text.slice(0, headEnd) + marker(tailStart - headEnd) + text.slice(tailStart);
}

function splitsPair(text: string, index: number): boolean {
  return LOW_SURROGATE.test(text.charAt(index));
}
