import {AMBIGUOUS, characterClass, LETTER, mayOpen} from './character-class.ts';

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
