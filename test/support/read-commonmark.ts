import {Parser} from 'commonmark';

export interface ReadMarkdown {
  /** All text that a reader sees, code and alternative texts included, without white space. */
  readonly text: string;
  /** Raw HTML nodes, which there must not be. */
  readonly html: readonly string[];
  readonly links: readonly {readonly target: string; readonly text: string}[];
}

const SEPARATOR = /^\|(?:---\|)+$/;

/** Reads Markdown as CommonMark, and the pipe tables at its top level as GFM does: cell by cell. */
export function readCommonMark(markdown: string): ReadMarkdown {
  const {prose, cells} = splitTables(markdown);
  const read = readBlocks(prose);
  // A letter in front keeps a cell from starting a block; cells cannot.
  const readCells = cells.map(cell => readBlocks(`Z ${cell}`));
  return {
    text: read.text + readCells.map(({text}) => text.slice(1)).join(''),
    html: [read, ...readCells].flatMap(({html}) => html),
    links: [read, ...readCells].flatMap(({links}) => links),
  };
}

/** Where the links and the pictures of a page lead, as written. */
export function linksOf(markdown: string): readonly string[] {
  const found: string[] = [];
  const walker = new Parser().parse(markdown).walker();
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const {destination} = step.node;
    if (step.entering && destination !== null && destination !== undefined) found.push(destination);
  }
  return found;
}

function readBlocks(markdown: string): ReadMarkdown {
  const html: string[] = [];
  const links: {target: string; text: string}[] = [];
  const walker = new Parser().parse(markdown).walker();
  let text = '';
  let linkStart = 0;
  for (let event = walker.next(); event; event = walker.next()) {
    const {entering, node} = event;
    if (node.type === 'link') {
      if (entering) linkStart = text.length;
      else links.push({target: node.destination ?? '', text: text.slice(linkStart)});
    }
    if (!entering) continue;
    if (node.type === 'html_inline' || node.type === 'html_block') html.push(node.literal ?? '');
    else if (node.type === 'text' || node.type === 'code' || node.type === 'code_block') {
      text += (node.literal ?? '').replace(/\s+/g, '');
    }
  }
  return {text, html, links};
}

function splitTables(markdown: string): {prose: string; cells: string[]} {
  const prose: string[] = [];
  const cells: string[] = [];
  const lines = markdown.split('\n');
  let fence = '';
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const backticks = /^ *(`{3,})[^`]*$/.exec(line)?.[1] ?? '';
    if (fence === '') fence = backticks;
    else if (backticks.length >= fence.length && line.trim() === backticks) fence = '';
    const isTable = fence === '' && line.startsWith('|') && SEPARATOR.test(lines[index + 1] ?? '');
    if (!isTable) {
      prose.push(line);
      continue;
    }
    for (; (lines[index] ?? '').startsWith('|'); index++) {
      const row = lines[index] ?? '';
      if (!SEPARATOR.test(row)) cells.push(...splitRow(row));
    }
    prose.push('');
  }
  return {prose: prose.join('\n'), cells};
}

/** GFM: a pipe behind a backslash belongs to the cell, and loses the backslash before inline parsing. */
function splitRow(row: string): string[] {
  return row
    .slice(1)
    .split(/(?<!\\)\|/)
    .slice(0, -1)
    .map(cell => cell.trim().replaceAll('\\|', '|'));
}
