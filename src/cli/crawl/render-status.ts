import {type Console, styled} from '../console.ts';
import {groupDigits} from '../render/group-digits.ts';
import {humanDuration} from '../render/human-duration.ts';
import type {JobStatus} from '../toolbox-services.ts';

/** How a job stands, for a person. */
export function renderStatus(job: string, status: JobStatus, console: Console): string {
  const {state, listed, added, pending, leased, later, done, failed, expired, hosts, errors} = status;
  const {settings} = status;
  const finished = done + failed;
  const share = added === 0 ? 0 : Math.floor((finished / added) * 100);
  const lines = [
    styled(
      console,
      'bold',
      `${job}: ${state}, ${groupDigits(finished)} of ${groupDigits(added)} (${share}%)`,
    ),
    `  ${groupDigits(pending)} wait, ${groupDigits(leased)} with workers, ${groupDigits(later)} to be tried again`,
    `  ${groupDigits(done)} fetched, ${groupDigits(failed)} failed`,
  ];
  const codes = Object.entries(errors).map(([code, times]) => `${code} ${groupDigits(times)}`);
  if (codes.length > 0) lines.push(`  failures, later tries included: ${codes.join(', ')}`);
  lines.push(
    `  hosts: ${groupDigits(hosts.ready)} may be asked now, ${groupDigits(hosts.waiting)} wait, ${groupDigits(hosts.active)} are being asked${hosts.aside > 0 ? `, ${groupDigits(hosts.aside)} given up` : ''}`,
  );
  if (expired > 0)
    lines.push(
      `  ${groupDigits(expired)} leases ended without a word: workers were killed, or took too long`,
    );
  if (!listed && state !== 'cancelled') {
    lines.push(
      '  The list was not read to its end. If no "crawl start" is running, start it again with the same list.',
    );
  }
  lines.push(
    `  a gap of ${groupDigits(settings.gap_ms)} ms, ${groupDigits(settings.per_host)} at once for each host; started ${humanDuration(status.age_ms)} ago`,
  );
  return `${lines.join('\n')}\n`;
}
