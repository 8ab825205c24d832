import {numberIn, textIn} from '../json-field.ts';
import {type Element, element} from '../markup.ts';
import type {CallEvent, RecordedCall} from '../run-history.ts';
import type {Allowance} from './allowance.ts';
import type {Part} from './render-result.ts';

/** The event of a connection that a command made (ruling X1). */
export const CONNECTION = 'egress_connection';

const MOST_ROWS = 200;
const MOST_CHARS = 300;
const COLUMNS = ['decision', 'host', 'address', 'sent', 'received', 'seconds', 'why'];

/** What a command connected to, and what it was kept from: one table, however many there were. */
export function renderConnections({events}: RecordedCall, allowance: Allowance): readonly Part[] {
  const connections = events.filter(({event}) => event === CONNECTION);
  if (connections.length === 0) return [];
  const row = (cells: readonly string[], kind: 'td' | 'th'): Element => [
    'tr',
    {},
    cells.map((cell): Element => [kind, {}, [cell]]),
  ];
  const rows = connections.slice(0, MOST_ROWS).map(({payload}) =>
    row(
      cellsOf(payload).map(cell => allowance.head(cell, MOST_CHARS)),
      'td',
    ),
  );
  const table = element('table', {}, element('thead', {}, row(COLUMNS, 'th')), ['tbody', {}, rows]);
  const left = connections.length - MOST_ROWS;
  const more = left > 0 ? [element('p', {class: 'note'}, `${left} more are in the log.`)] : [];
  return [{title: 'Network', content: [table, ...more]}];
}

function cellsOf(payload: CallEvent['payload']): readonly string[] {
  const host = textIn(payload, 'host') ?? '';
  const port = numberIn(payload, 'port') ?? 0;
  return [
    textIn(payload, 'decision') ?? '',
    port === 0 ? host : `${host}:${port}`,
    textIn(payload, 'address') ?? '',
    ...['bytes_up', 'bytes_down', 'duration_sec'].map(name => String(numberIn(payload, name) ?? 0)),
    textIn(payload, 'reason') ?? '',
  ];
}
