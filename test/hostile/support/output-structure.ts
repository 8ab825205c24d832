import {type Node, Parser} from 'commonmark';

/** What a Markdown renderer makes of a text, without its words. */
export interface Rendered {
  /** Kinds of nodes in order, with the targets of links and images. */
  readonly nodes: readonly string[];
  /** What a reader sees, alternative texts and code included, without white space. */
  readonly text: string;
  /** Raw HTML that came through. */
  readonly html: readonly string[];
  readonly targets: readonly string[];
}

/** Line breaks inside a paragraph and pieces of text are no structure. */
const NO_STRUCTURE = new Set(['document', 'text', 'softbreak', 'linebreak', 'html_inline', 'html_block']);
const SEPARATOR = /^\|(?:---\|)+$/;

/** Reads Markdown as CommonMark, and its pipe tables cell by cell, as GFM does. */
export function render(markdown: string): Rendered {
  const nodes: string[] = [];
  const html: string[] = [];
  const targets: string[] = [];
  let text = '';
  const read = (part: string, prefix: string): void => {
    const walker = new Parser().parse(part).walker();
    let taken = '';
    for (let event = walker.next(); event; event = walker.next()) {
      const {node, entering} = event;
      if (!entering) continue;
      if (node.type === 'html_inline' || node.type === 'html_block') html.push(node.literal ?? '');
      if (!NO_STRUCTURE.has(node.type)) nodes.push(nodeName(node));
      if (node.type === 'link' || node.type === 'image') targets.push(node.destination ?? '');
      if (node.type === 'text' || node.type === 'code' || node.type === 'code_block')
        taken += node.literal ?? '';
    }
    text += taken.slice(prefix.length);
  };
  const {prose, rows} = splitTables(markdown);
  read(prose, '');
  for (const row of rows) {
    nodes.push(`row of ${row.length}`);
    // Cells start no blocks; a letter in front keeps the parser from doing it.
    for (const cell of row) read(`Z ${cell}`, 'Z ');
  }
  return {nodes, text: text.replace(/\s+/g, ''), html, targets};
}

function nodeName(node: Node): string {
  if (node.type === 'heading') return `heading ${node.level}`;
  if (node.type === 'code_block') return `code block ${node.info ?? ''}`;
  if (node.type === 'link' || node.type === 'image') return `${node.type} ${node.destination} ${node.title}`;
  return node.type;
}

function splitTables(markdown: string): {
  readonly prose: string;
  readonly rows: readonly (readonly string[])[];
} {
  const prose: string[] = [];
  const rows: string[][] = [];
  const lines = markdown.split('\n');
  let fence = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const backticks = /^ *(`{3,})[^`]*$/.exec(line)?.[1] ?? '';
    if (fence === '') fence = backticks;
    else if (backticks.length >= fence.length && line.trim() === backticks) fence = '';
    const isTable = fence === '' && line.startsWith('|') && SEPARATOR.test(lines[at + 1] ?? '');
    if (!isTable) {
      prose.push(line);
      continue;
    }
    for (; (lines[at] ?? '').startsWith('|'); at += 1) {
      if (!SEPARATOR.test(lines[at] ?? '')) rows.push(cellsOf(lines[at] ?? ''));
    }
    prose.push('');
  }
  return {prose: prose.join('\n'), rows};
}

function cellsOf(row: string): string[] {
  return row
    .slice(1)
    .split(/(?<!\\)\|/)
    .slice(0, -1)
    .map(cell => cell.replaceAll('\\|', '|'));
}
