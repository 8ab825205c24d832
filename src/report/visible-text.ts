import {replaceInvisible} from '../core/text/replace-invisible.ts';

/** Colours and other SGR sequences: they only decorate. */
// biome-ignore lint/complexity/useRegexLiterals: a literal ESC would be a control character in the source
const DECORATION = new RegExp('\\u001b\\[[0-9;:]*m', 'g');

/**
 * Ruling D12, for a page: what a reader sees is what is there. Controls that would hide, turn around or
 * end something are shown as signs of their own; colour sequences of terminals are left out.
 */
export function visibleText(text: string): string {
  return replaceInvisible(text.replace(DECORATION, '').replace(/\r\n/g, '\n'), sign);
}

function sign(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  // U+2400 to U+2421 are the pictures of the C0 controls.
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
}
