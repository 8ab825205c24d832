import type {RunData} from './run-data.ts';

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
  if (result.repositories !== undefined) {
    parts.push(`git repositories have appeared in: ${result.repositories.join(', ')}`);
  }
  if (result.repositories_complete === false) {
    parts.push('The tree is too large to look for all git repositories that have appeared.');
  }
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
