// The characters of a text that a reader sees.

/**
 * D8: what may hold invisible characters: controls, formatting characters, variation selectors, and, because of
 * the tag characters, everything outside the basic plane. Behind a look that nearly all characters end at: one at so
 * many ranges takes six times as long.
 */
const SUSPECT =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: code units are meant, one by one.
  /[^\t\n -~](?<=[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb])/;

const NEXT_SUSPECT = new RegExp(SUSPECT, 'g');

const JOINING_SCRIPTS =
  'Arab|Syrc|Nkoo|Thaa|Mand|Mong|Phag|Deva|Beng|Guru|Gujr|Orya|Taml|Telu|Knda|Mlym|Sinh|Tibt|Mymr|Khmr|Java|Bali|Cakm|Adlm';
const JOINING_LETTER = new RegExp(
  `^(?=[\\p{L}\\p{M}])[${JOINING_SCRIPTS.split('|')
    .map(script => `\\p{Script_Extensions=${script}}`)
    .join('')}]`,
  'u',
);
// biome-ignore lint/suspicious/noMisleadingCharacterClass: the modifiers count by themselves.
const EMOJI = /^[\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}\ufe0f\u20e3]/u;
const IDEOGRAPH = /^\p{Ideographic}/u;
/** What may have variants: no letter of Latin, Greek or Cyrillic, and of ASCII only what keycaps are made of. */
const SELECTABLE = /^(?![!"$-)+-/:-~]|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[^\s\p{C}]/u;

/** D8: the text without the characters that a reader cannot see and no script needs. */
export function visibleText(text: string): string {
  if (!SUSPECT.test(text)) return text;
  let position = nextSuspect(text, 0);
  let visible = '';
  let copied = 0;
  let previous = position === 0 ? NaN : text.charCodeAt(position - 1);
  while (position < text.length) {
    const start = nextSuspect(text, position);
    if (start === -1) break;
    // What is not suspect stays, and is one unit.
    if (start > position) previous = text.charCodeAt(start - 1);
    position = start;
    const code = text.codePointAt(position) ?? 0;
    position += code > 0xffff ? 2 : 1;
    const isSpace = SPACES.has(code);
    const isUnchanged = (code >= 0x20 && code < 0x7f) || (!isSpace && isKept(code, previous, text, position));
    if (isUnchanged || isSpace) previous = code;
    if (isUnchanged) continue;
    visible += text.slice(copied, start);
    if (isSpace) visible += ' ';
    copied = position;
  }
  return visible + text.slice(copied);
}

function nextSuspect(text: string, from: number): number {
  NEXT_SUSPECT.lastIndex = from;
  return NEXT_SUSPECT.test(text) ? NEXT_SUSPECT.lastIndex - 1 : -1;
}

/** `previous` is the code point before, as far as it is visible; `NaN` for none. */
function isKept(code: number, previous: number, text: string, next: number): boolean {
  if (code < 0xa0) return (code >= 0x20 && code < 0x7f) || code === 0x09 || code === 0x0a;
  if (!isInvisible(code) && !isAnySelector(code)) return true;
  const before = Number.isNaN(previous) ? '' : String.fromCodePoint(previous);
  if (code === 0x200c || code === 0x200d) return isJoinerNeeded(code, before, text, next);
  // One variation selector after a visible character chooses a glyph; further ones carry hidden data.
  if (code >= 0xfe00 && code <= 0xfe0f) return SELECTABLE.test(before) && !isSelector(before);
  if (code >= 0xe0100 && code <= 0xe01ef) return IDEOGRAPH.test(before);
  if (code >= 0x180b && code <= 0x180f) return JOINING_LETTER.test(before) && !isSelector(before);
  return false;
}

function isAnySelector(code: number): boolean {
  return (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0x180b && code <= 0x180f);
}

function isSelector(character: string): boolean {
  return /^[\ufe00-\ufe0f\u180b-\u180f]/.test(character);
}

function isJoinerNeeded(code: number, previous: string, text: string, position: number): boolean {
  const next = text.slice(position, position + 2);
  if (JOINING_LETTER.test(previous) && JOINING_LETTER.test(next)) return true;
  return code === 0x200d && EMOJI.test(previous) && EMOJI.test(next);
}

function isInvisible(code: number): boolean {
  return (
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    (code >= 0xd800 && code <= 0xdfff) ||
    (code >= 0xfff0 && code <= 0xfffb) ||
    (code >= 0xe0000 && code <= 0xe0fff) ||
    (code >= 0x1d173 && code <= 0x1d17a) ||
    (code >= 0x1bca0 && code <= 0x1bca3) ||
    OTHERS.has(code)
  );
}

/** Form feed and carriage return, which are blanks to HTML; line and paragraph separator. */
const SPACES: ReadonlySet<number> = new Set([0x0c, 0x0d, 0x2028, 0x2029]);

/** Soft hyphen, grapheme joiner, Arabic letter mark, fillers of Hangul and Khmer, byte order mark. */
const OTHERS: ReadonlySet<number> = new Set([
  0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xfeff, 0xffa0,
]);

/** What is not one space already. */
const TO_COLLAPSE = /[\t\n\f\r]| {2}/;
const RUN = /[ \t\n\f\r]{2,}|[\t\n\f\r]/g;

/** HTML's white space collapsing: every run of ASCII blanks becomes one space. */
export function collapseBlanks(text: string): string {
  return TO_COLLAPSE.test(text) ? text.replace(RUN, ' ') : text;
}
