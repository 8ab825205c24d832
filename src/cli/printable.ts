/**
 * Ruling D12: what a page, a server or a file said reaches a terminal without its controls: no
 * ESC, CSI, OSC or other C0/C1 character but TAB and LF, no bidi override, no Unicode tag character.
 */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu,
    '',
  );
}
