import {stripInvisible} from '../../core/text/strip-invisible.ts';

/** The colours of `styled`, and the carriage return of the progress line. */
const OWN = /(\u001b\[(?:1|2|22|31|32|33|36|39)m|\r)/;

/**
 * Ruling D12, the last gateway: whatever is written to a terminal passes here, made printable before or not
 * (a JSON line, a log line). Of what a terminal acts on, only our own gets through.
 */
export function forTerminal(text: string): string {
  return text
    .split(OWN)
    .map((part, at) => (at % 2 === 1 ? part : stripInvisible(part)))
    .join('');
}
