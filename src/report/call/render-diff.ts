import {type Element, element, type Markup} from '../markup.ts';

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Whether a text is shown best as a diff. */
export function looksLikeDiff(text: string): boolean {
  return /^(?:--- |diff --git )/m.test(text) && /^@@ |^\+\+\+ |^rename /m.test(text);
}

/** A unified diff, a line each, with the numbers of its lines before and after. */
export function renderDiff(diff: string): Element {
  let before = 0;
  let after = 0;
  let isInHunk = false;
  const lines = diff.replace(/\n$/, '').split('\n');
  const width = String(lines.length + largestLine(lines)).length;
  const show = (kind: string, line: string, old?: number, now?: number): Markup =>
    element(
      'span',
      {class: kind},
      element('span', {class: 'ln'}, `${pad(old, width)} ${pad(now, width)} `),
      `${line}\n`,
    );
  const render = (line: string, at: number): Markup => {
    const hunk = HUNK.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      isInHunk = true;
      return show('hunk', line);
    }
    if (isFileHeader(lines, at)) isInHunk = false;
    if (!isInHunk) return show('meta', line);
    switch (line.charAt(0)) {
      case '+':
        after += 1;
        return show('add', line, undefined, after - 1);
      case '-':
        before += 1;
        return show('del', line, before - 1);
      case '\\':
        return show('meta', line);
      default:
        before += 1;
        after += 1;
        return show('same', line, before - 1, after - 1);
    }
  };
  return ['pre', {class: 'diff'}, lines.map(render)];
}

/** `--- ` alone may be a removed line that began with `-- `. */
function isFileHeader(lines: readonly string[], at: number): boolean {
  const [first = '', second = '', third = ''] = lines.slice(at, at + 3);
  if (first.startsWith('diff --git ')) return true;
  return first.startsWith('--- ') && second.startsWith('+++ ') && third.startsWith('@@ ');
}

function largestLine(lines: readonly string[]): number {
  return lines.reduce((largest, line) => Math.max(largest, Number(HUNK.exec(line)?.[1] ?? 0)), 0);
}

function pad(number: number | undefined, width: number): string {
  return (number === undefined ? '' : String(number)).padStart(width);
}
