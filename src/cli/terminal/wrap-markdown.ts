import {wrapText} from './wrap-text.ts';

/** Prose at the width of a terminal. Code, tables and what else has meaning by its lines stays as it is. */
export function wrapMarkdown(markdown: string, width: number): string {
  let fence: string | undefined;
  return markdown
    .split('\n')
    .map(line => {
      const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
      if (fence !== undefined) {
        // The end of code has nothing behind it.
        const isEnd =
          mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark;
        if (isEnd) fence = undefined;
        return line;
      }
      if (mark !== undefined) {
        fence = mark;
        return line;
      }
      if (/^(?:\s*\||\s{0,3}#{1,6}\s| {4})/.test(line) && !/^\s*(?:[-*+]|\d+\.)\s/.test(line)) return line;
      // An item or a quote goes on below its text.
      const [lead = ''] = /^\s*(?:(?:[-*+]|\d+[.)])\s+|(?:>\s?)+)?/.exec(line) ?? [];
      const hang = lead.includes('>') ? lead : ' '.repeat(lead.length);
      return wrapText(line, width, hang);
    })
    .join('\n');
}
