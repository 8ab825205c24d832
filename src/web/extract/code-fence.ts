/** The longest run of backticks in a text. */
export function longestBacktickRun(text: string): number {
  let longest = 0;
  let run = 0;
  for (let at = text.indexOf('`'); at !== -1; at = text.indexOf('`', at + 1)) {
    run = text[at - 1] === '`' ? run + 1 : 1;
    if (run > longest) longest = run;
  }
  return longest;
}

/** FR-WF-EXT-CODE-01, D11: the content literally, in a fence that is longer than any inside. */
export function codeFence(content: string, language: string): string {
  const fence = '`'.repeat(Math.max(3, longestBacktickRun(content) + 1));
  return `${fence}${language}\n${content}\n${fence}`;
}

/** Inline code; blanks keep its own backticks away from the delimiters. */
export function codeSpan(content: string): string {
  const fence = '`'.repeat(spanFenceLength(content));
  const pad = content.startsWith('`') || content.endsWith('`') ? ' ' : '';
  return fence + pad + content + pad + fence;
}

/** The shortest fence that no run inside equals. */
function spanFenceLength(content: string): number {
  if (!content.includes('`')) return 1;
  const runs = new Set((content.match(/`+/g) ?? []).map(run => run.length));
  let length = 1;
  while (runs.has(length)) length++;
  return length;
}
