// Renders outputs of commands as text.
import {z} from 'zod';
import {backgroundState, describeRemains, describeState} from './background.ts';
import {describeRepositories, type RunData} from './run-data.ts';

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

/** Lines that follow each other and are the same are worth a line and their number; three of them and more. */
const LEAST_FOLDED = 3;

/** Ruling H2 */
export function renderRun(result: RunData): string {
  const {exit_code, duration_sec, sandbox, left_running, background} = result;
  const place = sandbox === 'none' ? 'NO sandbox' : sandbox;
  if (background !== undefined) {
    const {step, max_life_sec} = background;
    return `Runs in the background as step ${step} (${place}, for ${max_life_sec} s at most). read_output step=${step} shows what it writes, wait_for step=${step} waits for it, stop_run step=${step} ends it.`;
  }
  const facts = `exit code ${exit_code}, ${duration_sec} s, ${place}`;
  const parts = [facts];
  for (const stream of ['stdout', 'stderr'] as const) {
    const output = result[stream];
    if (output === '') continue;
    const note = result[`${stream}_truncated`] ? ` (cut; ${result[`${stream}_bytes`]} bytes)` : '';
    parts.push(`${stream}${note}:\n${foldRepeated(output.trimEnd())}`);
  }
  parts.push(...describeRepositories(result));
  if (result.note !== undefined) parts.push(result.note);
  if (left_running.length > 0) parts.push(`killed at its end: ${left_running.join(', ')}`);
  return parts.join('\n');
}

function foldRepeated(text: string): string {
  const lines = text.split('\n');
  const folded: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    let end = at + 1;
    while (lines[end] === line) end += 1;
    const count = end - at;
    if (count < LEAST_FOLDED || line === '') folded.push(...lines.slice(at, end));
    else folded.push(line, `[the same ${count - 1} more times]`);
    at = end;
  }
  return folded.join('\n');
}

/** What `read_output` answers. */
export const outputData = z.object({
  step: z.int(),
  stream: z.enum(['stdout', 'stderr']),
  total_lines: z.int(),
  complete: z.boolean().describe('False where something of the output was not kept.'),
  start_line: z.int(),
  end_line: z.int().describe('Last line that is shown, or that was searched.'),
  content: z.string().exactOptional(),
  matches: z
    .array(
      z.object({
        line: z.int(),
        content: z.string(),
        context_before: z.array(z.string()),
        context_after: z.array(z.string()),
      }),
    )
    .exactOptional(),
  total_matches: z.int().exactOptional(),
  truncated: z.boolean(),
  background: backgroundState
    .exactOptional()
    .describe('There if the command was started in the background by this process.'),
  unseen: z.int().exactOptional().describe('Lines of the other stream that were not shown yet.'),
  next: z.object({start_line: z.int()}).exactOptional().describe('Where to go on.'),
});

export type OutputData = z.output<typeof outputData>;
