const WORD = /[\p{L}\p{N}\p{M}]/u;

/** Whether the code point that the unit at `at` belongs to is part of a word. */
export function isWordAt(text: string, at: number): boolean {
  if (at < 0 || at >= text.length) return false;
  const unit = text.charCodeAt(at);
  if (unit < 0x80) {
    return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x30 && unit <= 0x39);
  }
  const isLowHalf = (unit & 0xfc00) === 0xdc00;
  return WORD.test(String.fromCodePoint(text.codePointAt(isLowHalf ? at - 1 : at) ?? 0));
}
