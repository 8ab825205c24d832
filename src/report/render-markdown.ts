/**
 * Shows the Markdown of a page in a report, as elements. HTML in it is text, images are links, and a link shows where it
 * goes. Nothing of a page is loaded or run.
 */
import MarkdownIt, {type Token} from 'markdown-it';
import {element, linkTarget, type Markup, type Tag} from './markup.ts';

/** Deeper quotes and lists are shown as they are written, deeper emphasis as its text. */
const DEEPEST = 20;

const parser = new MarkdownIt();
// The parser drops what is nested deeper than its own limit of 100.
parser.block.ruler.before('table', 'too_deep', (state, start, end) => {
  if (state.level < DEEPEST) return false;
  state.push('code_block', 'code', 0).content = state.getLines(start, end, state.blkIndent, false);
  state.line = end;
  return true;
});
// An address is shown as it is written; linkTarget() decides whether it can be followed.
parser.normalizeLink = address => address;
parser.validateLink = () => true;

const TAGS: Readonly<Record<string, Tag>> = {
  ...{blockquote: 'blockquote', em: 'em', li: 'li', ol: 'ol', p: 'p', s: 'del', strong: 'strong', ul: 'ul'},
  ...{tbody: 'tbody', td: 'td', th: 'th', thead: 'thead', tr: 'tr'},
  // The page that is shown stands below the headings of the report.
  ...{h1: 'h4', h2: 'h5', h3: 'h6', h4: 'h6', h5: 'h6', h6: 'h6'},
};

export function renderMarkdown(text: string): readonly Markup[] {
  return renderTokens(parser.parse(text, {}));
}

function renderTokens(tokens: readonly Token[]): readonly Markup[] {
  const root: Markup[] = [];
  const open: {readonly token: Token; readonly children: Markup[]}[] = [];
  for (const token of tokens) {
    // The paragraph of an item in a list without blank lines.
    if (token.hidden) continue;
    if (token.nesting === 1) {
      open.push({token, children: []});
      continue;
    }
    const closed = token.nesting === -1 ? open.pop() : undefined;
    const place = open.at(-1)?.children ?? root;
    if (closed === undefined) place.push(...renderLeaf(token));
    else if (open.length < DEEPEST) place.push(renderElement(closed.token, closed.children));
    else for (const child of closed.children) place.push(child);
  }
  return root;
}

function renderLeaf(token: Token): readonly Markup[] {
  const {type, content} = token;
  const inner = token.children === null ? [] : renderTokens(token.children);
  switch (type) {
    case 'inline':
      return inner;
    case 'image':
      return [anchor(['Image: ', ...inner], String(token.attrGet('src')))];
    case 'code_inline':
      return [element('code', {}, content)];
    case 'fence':
    case 'code_block': {
      const title = token.info.trim().slice(0, 40);
      return [element('pre', title === '' ? {} : {title}, element('code', {}, content.replace(/\n$/, '')))];
    }
    case 'softbreak':
      return ['\n'];
    case 'hardbreak':
    case 'hr':
      return [element(type === 'hr' ? 'hr' : 'br')];
    default:
      return content === '' ? [] : [content];
  }
}

function renderElement(token: Token, children: readonly Markup[]): Markup {
  if (token.tag === 'a') return anchor(children, String(token.attrGet('href')));
  if (token.tag === 'table') return element('div', {class: 'scroll'}, ['table', {}, children]);
  const attributes = token.tag === 'ol' ? {start: Number(token.attrGet('start') ?? 1)} : {};
  return [TAGS[token.tag] ?? 'span', attributes, children];
}

/** A link that shows where it goes; what may not be followed is text. */
function anchor(children: readonly Markup[], destination: string): Markup {
  const href = linkTarget(destination);
  const isSame = children.every(child => typeof child === 'string') && children.join('') === destination;
  const where: readonly Markup[] = isSame
    ? []
    : [' ', element('span', {class: 'target'}, `⟨${destination.slice(0, 300)}⟩`)];
  return href === undefined
    ? ['span', {}, [...children, ...where]]
    : ['span', {}, [['a', {href, title: destination}, children], ...where]];
}
