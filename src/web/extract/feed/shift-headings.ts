const HEADING = /^#{1,6}(?=\s)/;
const FENCE = /^(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*(`{3,})/;
const DEEPEST = 6;

/** The same Markdown with its headings `by` levels deeper. Lines between code fences stay. */
export function shiftHeadings(markdown: string, by: number): string {
  let fence = '';
  return markdown
    .split('\n')
    .map(line => {
      const ticks = FENCE.exec(line)?.[1];
      if (fence !== '') {
        if (ticks !== undefined && ticks.length >= fence.length && line.trimEnd().endsWith(ticks)) fence = '';
        return line;
      }
      if (ticks !== undefined) fence = ticks;
      return line.replace(HEADING, marks => '#'.repeat(Math.min(DEEPEST, marks.length + by)));
    })
    .join('\n');
}
