import {type Emphasis, misreadEmphasis} from './check-emphasis.ts';
import {escapeLines, type InlineKind} from './escape-lines.ts';
import {type Delimiters, hasSpecial, NOTHING_SPECIAL, pairingDelimiters} from './escape-text.ts';
import {CODE, EMPHASIS, type InlineBuffer, NO_LINK, STRONG, STRUCK, TEXT} from './inline-buffer.ts';
import {writePieces} from './write-pieces.ts';

export interface InlineContext {
  readonly kind: InlineKind;
  /** True where CommonMark may read the block together with its neighbours (lists, cells): nothing is left to pair. */
  readonly isJoined: boolean;
}

const MAX_ATTEMPTS = 4;

/** Turns the inline content of a block into Markdown; `''` for none. Lines are separated by LF. */
export function renderInline(buffer: InlineBuffer, context: InlineContext): string {
  const {kinds, texts, styles, links} = buffer;
  if (kinds.length === 1 && kinds[0] === TEXT && styles[0] === 0 && links[0] === NO_LINK) {
    const text = (texts[0] ?? '').trim();
    const delimiters = delimitersOf(buffer, context);
    const escaped = escapeLines(text, {delimiters, inLink: false, startsBlock: true, kind: context.kind});
    const markdown = finish(escaped, text, context);
    return isDefinition(markdown, context) ? `\\${markdown}` : markdown;
  }
  for (let attempt = 1; ; attempt++) {
    const {parts, emphases} = writePieces(buffer, delimitersOf(buffer, context), context.kind);
    const misread = emphases.length === 0 ? NOTHING : misreadEmphasis(parts, emphases);
    if (misread.size > 0) {
      dropStyles(buffer, attempt === MAX_ATTEMPTS ? new Set(emphases) : misread);
      continue;
    }
    const markdown = finish(parts.join('').trim(), texts.at(-1) ?? '', context);
    if (!isDefinition(markdown, context)) return markdown;
    if (links[0] === NO_LINK) return `\\${markdown}`;
    dropFirstLink(buffer);
  }
}

const NOTHING: ReadonlySet<Emphasis> = new Set();

function delimitersOf(buffer: InlineBuffer, context: InlineContext): Delimiters {
  const {kinds, texts, styles} = buffer;
  if (!buffer.mayHoldMarkup) return NOTHING_SPECIAL;
  const prose: string[] = [];
  for (const [piece, text] of texts.entries()) {
    if (kinds[piece] === CODE || !hasSpecial(text)) continue;
    // Blanks at the edge of a style go outside, and what was behind them is next to a delimiter then.
    prose.push(styles[piece] === 0 ? text : text.trim());
  }
  if (prose.length === 0) return NOTHING_SPECIAL;
  const delimiters = pairingDelimiters(prose, context.isJoined);
  delimiters.mail = texts.length > 1 && texts.some(text => text.includes('@'));
  for (const [piece, style] of styles.entries()) {
    if ((style & (EMPHASIS | STRONG)) !== 0) delimiters.star = true;
    if ((style & STRUCK) !== 0) delimiters.tilde = true;
    if (kinds[piece] === CODE) delimiters.backtick = true;
  }
  return delimiters;
}

/** What depends on the block as a whole. `lastText` is its last piece as in the page. */
function finish(markdown: string, lastText: string, context: InlineContext): string {
  if (context.kind === 'heading') return escapeClosingSequence(markdown, lastText.trimEnd());
  if (!markdown.includes('\n')) return markdown;
  return markdown
    .split('\n')
    .map(line => line.trimEnd())
    .join('\n');
}

/** A run of # at the end of a heading line, after a blank, would vanish. */
function escapeClosingSequence(markdown: string, lastText: string): string {
  if (!lastText.endsWith('#') || !markdown.endsWith('#')) return markdown;
  let start = markdown.length;
  while (markdown.charAt(start - 1) === '#') start--;
  const isSequence = start === 0 || /\s/.test(markdown.charAt(start - 1));
  return isSequence ? `${markdown.slice(0, start)}\\${markdown.slice(start)}` : markdown;
}

const DEFINITION = /^\[(?:[^\\[\]]|\\[^\n])*\]:/;

/** A paragraph that begins like a link reference definition vanishes; even code in it does not help. */
function isDefinition(markdown: string, context: InlineContext): boolean {
  return context.kind === 'paragraph' && markdown.startsWith('[') && DEFINITION.test(markdown);
}

function dropFirstLink(buffer: InlineBuffer): void {
  const first = buffer.links[0];
  for (let piece = 0; buffer.links[piece] === first && piece < buffer.links.length; piece++) {
    buffer.links[piece] = NO_LINK;
  }
  buffer.mergePieces();
}

function dropStyles(buffer: InlineBuffer, misread: ReadonlySet<Emphasis>): void {
  for (const {style, firstPiece, endPiece} of misread) {
    for (let piece = firstPiece; piece < endPiece; piece++) {
      buffer.styles[piece] = (buffer.styles[piece] ?? 0) & ~style;
    }
  }
  buffer.mergePieces();
}
