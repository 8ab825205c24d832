// The elements that a report is made of, and the escaping of every text in them.
import type {Brand} from '../core/result.ts';
import {replaceInvisible} from '../core/text/invisible.ts';

/** What a report is made of. None of them runs, loads or sends anything; `assets/report/` knows the same ones. */
export type Tag =
  | ('a' | 'b' | 'blockquote' | 'br' | 'code' | 'dd' | 'del' | 'details' | 'div' | 'dl' | 'dt' | 'em')
  | ('h4' | 'h5' | 'h6' | 'hr' | 'li' | 'ol' | 'p' | 'pre' | 'section' | 'span' | 'strong' | 'summary')
  | ('table' | 'tbody' | 'td' | 'th' | 'thead' | 'tr' | 'ul');

interface Attributes {
  readonly class?: string;
  readonly title?: string;
  /** Of `a`. */
  readonly href?: LinkTarget;
  /** First number of `ol`. */
  readonly start?: number;
}

/**
 * A text or an element. There is no such thing as HTML in a string: what a page or a command wrote can
 * only be a text, and a text becomes a text node or is escaped.
 */
export type Markup = string | Element;
export type Element = readonly [tag: Tag, attributes: Attributes, children: readonly Markup[]];

export function element(tag: Tag, attributes: Attributes = {}, ...children: readonly Markup[]): Element {
  return [tag, attributes, children];
}

/** HTML that holds nothing but what our own code meant as HTML. */
export type SafeHtml = Brand<string, 'SafeHtml'>;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** HTML of a text, for contents and for quoted attributes. */
export function escapeHtml(text: string): SafeHtml {
  return visibleText(text).replace(/[&<>"']/g, character => ENTITIES[character] ?? '') as SafeHtml;
}

/** Our own HTML with values in it, which are escaped unless they are HTML of ours already. */
export function html(literals: TemplateStringsArray, ...values: readonly SafeHtml[]): SafeHtml {
  return literals.reduce((all, literal, index) => `${all}${values[index - 1] ?? ''}${literal}`) as SafeHtml;
}

/** A script or its data. Not within `html`: bundlers rewrite templates that end a script. */
export function scriptElement(
  content: SafeHtml,
  attributes: '' | ' class="data" type="application/json"' = '',
): SafeHtml {
  return `<script${attributes}>${content}</script>` as SafeHtml;
}

/** Pieces of HTML of ours, a line each. */
export function joinHtml(pieces: readonly SafeHtml[]): SafeHtml {
  return pieces.join('\n') as SafeHtml;
}

/**
 * One line of JSON for a `<script type="application/json">`: without `<`, nothing in it ends the element
 * or opens a comment. Every text in it is made visible, whichever field it stands in.
 */
export function embedJson(value: object): SafeHtml {
  const shown = (_: string, entry: unknown): unknown =>
    typeof entry === 'string' ? visibleText(entry) : entry;
  return JSON.stringify(value, shown).replaceAll('<', '\\u003c') as SafeHtml;
}

/** A file of this package that stands in the page as it is. It must not end its element. */
export function embedAsset(text: string): SafeHtml {
  if (/<\/|<!--/.test(text)) throw new Error('Expected an asset without "</" and "<!--".');
  return text as SafeHtml;
}

/** Colours and other SGR sequences: they only decorate. */
// biome-ignore lint/complexity/useRegexLiterals: a literal ESC would be a control character in the source
const DECORATION = new RegExp('\\u001b\\[[0-9;:]*m', 'g');

/**
 * Ruling D12, for a page: what a reader sees is what is there. Controls that would hide, turn around or
 * end something are shown as signs of their own; colour sequences of terminals are left out.
 */
function visibleText(text: string): string {
  return replaceInvisible(text.replace(DECORATION, '').replace(/\r\n/g, '\n'), sign);
}

function sign(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  // U+2400 to U+2421 are the pictures of the C0 controls.
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
}

/** An absolute http or https address that a reader may choose to follow. */
type LinkTarget = Brand<string, 'LinkTarget'>;

const LONGEST = 2000;

/** `undefined` for every other scheme, for credentials, and for an address whose query the log left out. */
export function linkTarget(written: string): LinkTarget | undefined {
  if (written.length > LONGEST || !/^https?:\/\//i.test(written) || written.includes('?…')) return undefined;
  try {
    const {protocol, username, password, href} = new URL(written);
    const isWeb = protocol === 'http:' || protocol === 'https:';
    return isWeb && username === '' && password === '' ? (href as LinkTarget) : undefined;
  } catch {
    return undefined;
  }
}
