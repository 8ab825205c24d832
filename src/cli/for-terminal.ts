/**
 * Ruling D12, the last door: whatever is written to a terminal passes here, made printable before or not
 * (a JSON line, a log line). Of the escape sequences only the colours of `styled` get through; a carriage
 * return does, for the progress line.
 */
export function forTerminal(text: string): string {
  return text.replace(
    /\u001b(?!\[(?:1|2|22|31|32|33|36|39)m)|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu,
    '',
  );
}
