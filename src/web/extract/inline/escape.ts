// Escapes text so that Markdown shows it as it was.

const MAY_START_BLOCK = /^[#>+\-*_=~|:`\d]/;
/** Headings, quotes, bullets, rules and underlines, fences. `$` is the end of the line, or of the text before markup. */
const STARTS_BLOCK =
  /^(?:#{1,6}(?=[ \t]|$)|>|[-+*](?=[ \t]|$)|-[- \t]*$|\*[* \t]*$|_[_ \t]*$|=+[ \t]*$|~{3}|`{3})/;
const TABLE_DELIMITERS = /^[|:][-|: \t]*$/;
const ORDERED_MARKER = /^\d{1,9}(?=[.)](?:[ \t]|$))/;

/**
 * D7: keeps a line of text from starting a block. `raw` is the line as in the page, `escaped` the same line after
 * the escaping of inline markup.
 */
function escapeLineStart(raw: string, escaped: string): string {
  const lower = raw.charCodeAt(0) | 0x20;
  // Most lines begin with a letter.
  if ((lower >= 0x61 && lower <= 0x7a) || !MAY_START_BLOCK.test(raw)) return escaped;
  const number = ORDERED_MARKER.exec(raw)?.[0];
  if (number !== undefined) return `${number}\\${escaped.slice(number.length)}`;
  const startsBlock = STARTS_BLOCK.test(raw) || (TABLE_DELIMITERS.test(raw) && raw.includes('-'));
  if (!startsBlock || escaped.startsWith('\\')) return escaped;
  // A delimiter run goes as a whole: what is left of it could be emphasis.
  return escaped.replace(/^(?:[*_~`]+|.)/, run => `\\${[...run].join('\\')}`);
}

/** What a block of inline content is: cells and headings are one line, and only paragraphs can start other blocks. */
export type InlineKind = 'paragraph' | 'heading' | 'cell';

interface Place {
  readonly delimiters: Delimiters;
  /** Between the brackets of a link. */
  readonly inLink: boolean;
  /** Nothing stands before the text in its block. */
  readonly startsBlock: boolean;
  readonly kind: InlineKind;
}

/** D7: escapes a piece of text, and in paragraphs the start of each of its lines that starts a line of the block. */
export function escapeLines(text: string, {delimiters, inLink, startsBlock, kind}: Place): string {
  const isEscaped = delimiters !== NOTHING_SPECIAL && hasSpecial(text);
  const escaped = isEscaped ? escapeText(text, delimiters, inLink) : text;
  if (kind !== 'paragraph') return escaped;
  if (!text.includes('\n')) return startsBlock ? escapeLineStart(text.trimEnd(), escaped) : escaped;
  const lines = text.split('\n');
  return escaped
    .split('\n')
    .map((line, index) => {
      return index > 0 || startsBlock ? escapeLineStart((lines[index] ?? '').trimEnd(), line) : line;
    })
    .join('\n');
}

/** Which delimiters a block must escape because they could pair up. */
export interface Delimiters {
  star: boolean;
  underscore: boolean;
  tilde: boolean;
  backtick: boolean;
  /** An address of mail between angle brackets could reach from one piece into the next. */
  mail: boolean;
}

/** Of a block in which no text has a character that could be markup: none of its pieces is looked at again. */
export const NOTHING_SPECIAL: Delimiters = {
  star: false,
  underscore: false,
  tilde: false,
  backtick: false,
  mail: false,
};

/** Every character that can be inline markup. */
const SPECIAL = /[\\`*_~[\]<&]/;
const EACH_SPECIAL = /[\\`[\]<&]|\*+|_+|~+/g;
const DELIMITER_RUNS = /\*+|_+|~+/g;
/** CommonMark 6.5: an address of mail between angle brackets, as far as it takes to see that it is one. */
const MAIL_LINK = /<[\w.!#$%&'*+/=?^`{|}~-]+@[a-zA-Z0-9]/y;
const MAIL_LINK_BEGUN = /<[\w.!#$%&'*+/=?^`{|}~-]+@?$/y;
const ENTITY = /&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});/y;
/** What makes an escape of a backslash before it, or, once blanks are trimmed, a hard line break. */
const ESCAPABLE = /[!-/:-@[-`{-~]|[^\S ]| \s*(?:\n|$)/y;

export function hasSpecial(text: string): boolean {
  return SPECIAL.test(text);
}

/**
 * D7, least escaping: finds the delimiters of a block that need a backslash: those where a run that may open
 * emphasis comes before one that may close it. `certain` marks all, for blocks that are read together with others.
 */
export function pairingDelimiters(texts: readonly string[], certain: boolean): Delimiters {
  const delimiters = {star: certain, underscore: certain, tilde: certain, backtick: certain, mail: false};
  if (certain) return delimiters;
  const opened = new Set<string>();
  let backtickRuns = 0;
  for (const text of texts) {
    if (text.includes('`')) backtickRuns += (text.match(/`+/g) ?? []).length;
    for (const {0: run, index} of text.matchAll(DELIMITER_RUNS)) {
      const role = delimiterRole(text, index, run.length);
      const character = run.charAt(0);
      if (role.closes && opened.has(character)) {
        if (character === '*') delimiters.star = true;
        else if (character === '_') delimiters.underscore = true;
        else delimiters.tilde = true;
      }
      if (role.opens) opened.add(character);
    }
  }
  delimiters.backtick = backtickRuns > 1;
  return delimiters;
}

/** At the edges of a piece the neighbours are unknown, and the answer is "may". */
function delimiterRole(text: string, start: number, length: number): {opens: boolean; closes: boolean} {
  const before = start === 0 ? AMBIGUOUS : characterClass(text.charCodeAt(start - 1));
  const after = start + length === text.length ? AMBIGUOUS : characterClass(text.charCodeAt(start + length));
  const isUnderscore = text.charCodeAt(start) === 0x5f;
  return {
    opens: mayOpen(before, after) && !(isUnderscore && before === LETTER),
    closes: mayOpen(after, before) && !(isUnderscore && after === LETTER),
  };
}

/** Escapes a piece of text so that it is text to CommonMark. `inLink`: between the brackets of a link. */
export function escapeText(text: string, delimiters: Delimiters, inLink: boolean): string {
  if (delimiters === NOTHING_SPECIAL) return text;
  const escapeBrackets = inLink && (text.includes('](') || !hasBalancedBrackets(text));
  let escaped = '';
  let copied = 0;
  for (const {0: special, index} of text.matchAll(EACH_SPECIAL)) {
    if (!isActive(text, special, index, delimiters, escapeBrackets)) continue;
    escaped += text.slice(copied, index);
    escaped += `\\${special.split('').join('\\')}`;
    copied = index + special.length;
  }
  return copied === 0 ? text : escaped + text.slice(copied);
}

function isActive(
  text: string,
  special: string,
  index: number,
  delimiters: Delimiters,
  escapeBrackets: boolean,
): boolean {
  const next = text.charAt(index + special.length);
  switch (special.charAt(0)) {
    case '\\':
      ESCAPABLE.lastIndex = index + 1;
      return next === '' || ESCAPABLE.test(text);
    case '`':
      return delimiters.backtick;
    case '[':
      return escapeBrackets;
    case ']':
      return escapeBrackets || next === '(';
    case '<':
      return next === '' || /[a-zA-Z/!?]/.test(next) || startsMailLink(text, index, delimiters);
    case '&':
      ENTITY.lastIndex = index;
      return ENTITY.test(text);
    default: {
      const wanted = {'*': delimiters.star, _: delimiters.underscore, '~': delimiters.tilde}[
        special.charAt(0)
      ];
      if (wanted !== true) return false;
      const role = delimiterRole(text, index, special.length);
      return role.opens || role.closes;
    }
  }
}

function startsMailLink(text: string, index: number, {mail}: Delimiters): boolean {
  MAIL_LINK.lastIndex = index;
  MAIL_LINK_BEGUN.lastIndex = index;
  return MAIL_LINK.test(text) || (mail && MAIL_LINK_BEGUN.test(text));
}

function hasBalancedBrackets(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x5b) depth++;
    else if (unit === 0x5d && --depth < 0) return false;
  }
  return depth === 0;
}

/**
 * What a character is to CommonMark's flanking rules. Versions differ on symbols (0.31 counts them as punctuation,
 * 0.30 does not) and on characters outside the basic plane, so those are a class of their own.
 */
export const BLANK = 0;
const PUNCTUATION = 1;
const LETTER = 2;
const AMBIGUOUS = 3;

const UNICODE_BLANK = /\s/;
const UNICODE_PUNCTUATION = /\p{P}/u;
const UNICODE_SYMBOL = /\p{S}/u;

/** The class of a UTF-16 code unit; `NaN`, the edge of a text, is a blank. */
export function characterClass(unit: number): number {
  if (unit < 0x80) {
    if (unit <= 0x20) return BLANK;
    const isLetter =
      (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x30 && unit <= 0x39);
    return isLetter || unit === 0x7f ? LETTER : PUNCTUATION;
  }
  if (Number.isNaN(unit)) return BLANK;
  if (unit >= 0xd800 && unit <= 0xdfff) return AMBIGUOUS;
  const character = String.fromCharCode(unit);
  if (UNICODE_BLANK.test(character)) return BLANK;
  if (UNICODE_PUNCTUATION.test(character)) return PUNCTUATION;
  // A variation selector belongs to the symbol before it.
  return UNICODE_SYMBOL.test(character) || unit === 0xfe0f ? AMBIGUOUS : LETTER;
}

/** Whether a delimiter between two such characters opens emphasis in every reading. */
export function surelyOpens(before: number, after: number): boolean {
  return after !== BLANK && (after === LETTER || before === BLANK || before === PUNCTUATION);
}

/** Whether it opens emphasis in some reading. */
export function mayOpen(before: number, after: number): boolean {
  return after !== BLANK && (after !== PUNCTUATION || before !== LETTER);
}

/** The longest run of backticks in a text. */
function longestBacktickRun(text: string): number {
  let longest = 0;
  let run = 0;
  for (let at = text.indexOf('`'); at !== -1; at = text.indexOf('`', at + 1)) {
    run = text[at - 1] === '`' ? run + 1 : 1;
    if (run > longest) longest = run;
  }
  return longest;
}

/** FR-WF-EXT-CODE-01, D11: the content literally, in a fence that is longer than any inside. */
export function codeFence(content: string, language: string): string {
  const fence = '`'.repeat(Math.max(3, longestBacktickRun(content) + 1));
  return `${fence}${language}\n${content}\n${fence}`;
}

/** Inline code; blanks keep its own backticks away from the delimiters. */
export function codeSpan(content: string): string {
  const fence = '`'.repeat(spanFenceLength(content));
  const pad = content.startsWith('`') || content.endsWith('`') ? ' ' : '';
  return fence + pad + content + pad + fence;
}

/** The shortest fence that no run inside equals. */
function spanFenceLength(content: string): number {
  if (!content.includes('`')) return 1;
  const runs = new Set((content.match(/`+/g) ?? []).map(run => run.length));
  let length = 1;
  while (runs.has(length)) length++;
  return length;
}
