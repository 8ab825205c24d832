import {type Block, blocksOf} from '../../chunk/blocks.ts';

/** A block with the white space behind it. Segments in order are the document. */
export interface Segment {
  readonly start: number;
  readonly end: number;
  readonly block: Block;
  /** 1 to 6 where the block is a heading with text; else 0. */
  readonly level: number;
}

/** `markdown` has line feeds only. White space in front of the first block belongs to its segment. */
export function segmentsOf(markdown: string): readonly Segment[] {
  const blocks = blocksOf(markdown);
  if (blocks.length === 0 && markdown !== '') blocks.push({kind: 'text', text: '', start: 0});
  return blocks.map((block, index) => ({
    start: index === 0 ? 0 : block.start,
    end: blocks[index + 1]?.start ?? markdown.length,
    block,
    level: block.heading === undefined ? 0 : block.text.search(/[^#]/),
  }));
}
