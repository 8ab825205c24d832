/** A fence may stand in block quotes and right after a list marker; what follows its backticks holds none. */
const FENCE = /^(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*(`{3,})[^`]*$/;
const CLOSING_FENCE = /^[ \t>]*(`{3,})[ \t]*$/;

const MAX_BLANK_LINES = 2;

/**
 * FR-WF-13b: LF line ends, no blanks at line ends, at most two blank lines in a row, one LF at the end; `''` for
 * text without any content. Between code fences only line ends change (FR-WF-EXT-WS-01). Idempotent.
 */
export function normalizeWhitespace(text: string): string {
  if (text.trim() === '') return '';
  const lines: string[] = [];
  let fence = 0;
  let blankLines = 0;
  for (const rawLine of text.split('\n')) {
    const line = rawLine.endsWith('\r') ? withoutFinal(rawLine, 0x0d) : rawLine;
    if (fence > 0) {
      lines.push(line);
      const closing = line.includes('`') ? CLOSING_FENCE.exec(line)?.[1] : undefined;
      if (closing !== undefined && closing.length >= fence) fence = 0;
      continue;
    }
    const trimmed = line.trimEnd();
    blankLines = trimmed === '' ? blankLines + 1 : 0;
    if (blankLines > MAX_BLANK_LINES) continue;
    lines.push(trimmed);
    fence = (trimmed.includes('```') ? FENCE.exec(trimmed)?.[1]?.length : undefined) ?? 0;
  }
  return `${withoutFinal(lines.join('\n'), 0x0a)}\n`;
}

/** All CRs before an LF go, so that a second pass finds nothing to do. */
function withoutFinal(text: string, unit: number): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === unit) end--;
  return text.slice(0, end);
}
