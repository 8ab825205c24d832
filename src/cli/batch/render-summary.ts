import {type Console, styled} from '../console.ts';
import {groupDigits} from '../render/group-digits.ts';
import {humanDuration} from '../render/human-duration.ts';
import {humanSize} from '../render/human-size.ts';
import {printable} from '../terminal/printable.ts';
import type {BatchSummary} from './batch-tally.ts';

const MOST_HOSTS = 5;

/** How a batch went, for a person, and what to do next. */
export function renderSummary(
  summary: BatchSummary,
  {out, interrupted}: {readonly out: string; readonly interrupted: boolean},
  console: Console,
): string {
  const {listed, fetched, cached, failed, failed_retryable, skipped, duplicates, left} = summary;
  const size = `${humanSize(summary.bytes)}, ${groupDigits(summary.tokens)} tokens`;
  const head = `${count(fetched, 'page')} of ${groupDigits(listed)} in ${humanDuration(summary.duration_ms)}: ${size}, in ${printable(out)}`;
  const lines = [styled(console, 'bold', head.replaceAll('\n', ' '))];
  const beside = [
    ...(cached > 0 ? [`${groupDigits(cached)} from the cache`] : []),
    ...(skipped > 0 ? [`${groupDigits(skipped)} finished by an earlier run`] : []),
    ...(duplicates > 0 ? [`${groupDigits(duplicates)} listed twice`] : []),
  ];
  if (beside.length > 0) lines.push(`  ${beside.join(', ')}`);
  if (failed > 0) {
    const codes = Object.entries(summary.errors).map(([code, times]) => `${code} ${groupDigits(times)}`);
    lines.push(`  ${styled(console, 'red', `${groupDigits(failed)} failed`)}: ${codes.join(', ')}`);
    lines.push('  manifest.jsonl says why, a line for each');
  }
  for (const {host, wait_sec} of summary.set_aside.slice(0, MOST_HOSTS)) {
    lines.push(
      `  ${styled(console, 'yellow', 'set aside')}: ${printable(host)} asks to be left alone for ${humanDuration(wait_sec * 1000)}`,
    );
  }
  const more = summary.set_aside.length - MOST_HOSTS;
  if (more > 0) lines.push(`  and ${count(more, 'further host')} like that`);
  if (left > 0 || interrupted) {
    const known = summary.list_read ? '' : ' or more';
    const what = interrupted ? 'Interrupted: ' : '';
    lines.push(`${what}${groupDigits(left)}${known} left. The same command goes on from here.`);
  } else if (failed_retryable > 0) {
    lines.push(`The same command tries ${groupDigits(failed_retryable)} of the failed ones again.`);
  }
  return `${lines.join('\n')}\n`;
}

function count(number: number, thing: string): string {
  return `${groupDigits(number)} ${thing}${number === 1 ? '' : 's'}`;
}
