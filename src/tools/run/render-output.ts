import {describeRemains, describeState} from './background/background-data.ts';
import type {OutputData} from './output-data.ts';

/** W17: a line that says what is shown and how to go on, and then the lines. */
export function renderOutput(output: OutputData): string {
  const {step, stream, content, matches, complete, next, background, unseen} = output;
  const other = stream === 'stdout' ? 'stderr' : 'stdout';
  const facts = [
    ...(background === undefined ? [] : [describeState(background)]),
    content === undefined ? ofSearch(output) : ofRange(output),
    ...(complete ? [] : ['not all of it was kept']),
    ...(next === undefined ? [] : [`next: start_line=${next.start_line}`]),
    ...(unseen === undefined
      ? []
      : [`stream=${other} has ${unseen.toLocaleString('en')} unseen ${unseen === 1 ? 'line' : 'lines'}`]),
    ...(background === undefined ? [] : describeRemains(background)),
  ];
  const head = `[${stream} of step ${step}: ${facts.join('; ')}]`;
  if (content !== undefined) return content === '' ? head : `${head}\n${content}`;
  return [head, ...renderMatches(matches ?? [])].join('\n');
}

function ofRange({start_line, end_line, total_lines, background}: OutputData): string {
  if (background !== undefined && end_line < start_line) return `nothing new after line ${end_line}`;
  return total_lines === 0
    ? 'empty'
    : `lines ${start_line}-${end_line} of ${total_lines.toLocaleString('en')}`;
}

function ofSearch({matches = [], total_matches = 0, total_lines}: OutputData): string {
  const shown = matches.length < total_matches ? `${matches.length} of ` : '';
  const counted = `${total_matches.toLocaleString('en')} ${total_matches === 1 ? 'match' : 'matches'}`;
  return `${shown}${counted} in ${total_lines.toLocaleString('en')} lines`;
}

/** As grep prints them: `12:` for a match, `11-` for a line around it, `--` where lines are left out between groups. */
function renderMatches(matches: NonNullable<OutputData['matches']>): readonly string[] {
  const found = new Map(matches.map(({line, content}) => [line, content]));
  const hasContext = matches.some(match => match.context_before.length + match.context_after.length > 0);
  const lines: string[] = [];
  let shown = 0;
  for (const {line, content, context_before, context_after} of matches) {
    const first = line - context_before.length;
    if (hasContext && shown > 0 && first > shown + 1) lines.push('--');
    for (const [index, text] of [...context_before, content, ...context_after].entries()) {
      const number = first + index;
      if (number <= shown) continue;
      lines.push(`${number}${found.has(number) ? ':' : '-'}${found.get(number) ?? text}`);
      shown = number;
    }
  }
  return lines;
}
