// Renders the answer of a tool by its shape. It knows no tool by name.
import type {Json} from '../core/result.ts';
import type {Allowance, CallDetails, ReadArtifact} from './artifacts.ts';
import {type Element, element, type Markup} from './markup.ts';
import {
  leftOut,
  looksLikeDiff,
  renderDiff,
  renderFields,
  renderPageChunks,
  renderText,
} from './render-values.ts';
import {
  type CallEvent,
  isObject,
  listIn,
  numberIn,
  objectIn,
  type RecordedCall,
  textIn,
} from './run-history.ts';

/** What of an output is shown: its end says how the command went. */
const TAIL = 16_384;
const STREAMS = ['stdout', 'stderr'] as const;

/** One titled piece of a call. */
export interface Part {
  readonly title: string;
  readonly content: readonly Markup[];
}

export function renderResult(details: CallDetails, allowance: Allowance): readonly Part[] {
  const data = details.result['data'] ?? null;
  const diffs = renderDiffs(details, data, allowance);
  const outputs = renderOutputs(details, data, allowance);
  if (data === null) return [...diffs, ...outputs];
  const chunks = listIn(data, 'chunks');
  if (chunks.length > 0) return [{title: 'Page', content: renderPageChunks(data, chunks, allowance)}];
  const matches = listIn(data, 'matches');
  const shown = new Set([
    ...(diffs.length > 0 ? ['diff'] : []),
    ...(outputs.length > 0 ? STREAMS : []),
    ...(matches.length > 0 ? ['matches'] : []),
  ]);
  const rest = isObject(data)
    ? Object.entries(data).filter(([name, value]) => !shown.has(name) && !isNothing(value))
    : [['', data] as const];
  const found = matches.length > 0 ? [renderMatches(matches, allowance)] : [];
  return [
    ...diffs,
    ...outputs,
    ...(rest.length > 0 || found.length > 0
      ? [{title: 'Result', content: [...found, ...(rest.length > 0 ? [renderFields(rest, allowance)] : [])]}]
      : []),
  ];
}

/** What says nothing to a reader: none, not there, not so. */
function isNothing(value: Json): boolean {
  return value === null || value === false || (Array.isArray(value) && value.length === 0);
}

/** What was changed or, of a dry run or a call that did not get that far, what would have been. */
function renderDiffs(
  {diffs, preview, result}: CallDetails,
  data: Json,
  allowance: Allowance,
): readonly Part[] {
  const parts = diffs.map(artifact => ({
    title: 'Change',
    content: [...renderCutDiff(artifact.text ?? '', allowance), ...problemOf(artifact)],
  }));
  if (parts.length > 0) return parts;
  const asked = textIn(data, 'diff') ?? (preview !== undefined && looksLikeDiff(preview) ? preview : '');
  if (asked === '') return [];
  const title = result['status'] === 'success' ? 'Diff' : 'Change that was asked for';
  return [{title, content: renderCutDiff(asked, allowance)}];
}

function renderCutDiff(diff: string, allowance: Allowance): readonly Markup[] {
  const shown = allowance.head(diff);
  return [renderDiff(shown), ...(shown.length < diff.length ? [leftOut(diff.length - shown.length)] : [])];
}

/** The ends of the kept outputs or, where none was kept, what the answer has of them. */
function renderOutputs({outputs, result}: CallDetails, data: Json, allowance: Allowance): readonly Part[] {
  if (outputs.length > 0) return outputs.flatMap(artifact => renderOutput(artifact, data, allowance));
  const partial = objectIn(objectIn(objectIn(result, 'error'), 'details'), 'partial');
  return STREAMS.flatMap(stream => {
    const text = textIn(data, stream) ?? textIn(partial, stream) ?? '';
    return text === '' ? [] : [{title: stream, content: [renderText(text, allowance)]}];
  });
}

function renderOutput(artifact: ReadArtifact, data: Json, allowance: Allowance): readonly Part[] {
  const stream = STREAMS.find(name => artifact.path.includes(name));
  const written = (stream && numberIn(data, `${stream}_bytes`)) ?? artifact.bytes;
  const text = artifact.text ?? '';
  if (text === '' && artifact.problem === undefined) return [];
  const tail = allowance.tail(text, TAIL);
  const isWhole = tail.length === text.length && written <= artifact.bytes;
  const note = isWhole
    ? `${written.toLocaleString('en')} bytes`
    : `the end of ${written.toLocaleString('en')} bytes; ${artifact.path} has ${artifact.bytes.toLocaleString('en')}`;
  return [
    {
      title: stream ?? artifact.path,
      content: [
        element('p', {class: 'note'}, note),
        element('pre', {class: 'output'}, tail),
        ...problemOf(artifact),
      ],
    },
  ];
}

export function problemOf({path, problem}: ReadArtifact): readonly Markup[] {
  return problem === undefined ? [] : [element('p', {class: 'warning'}, `${path.slice(0, 200)}: ${problem}`)];
}

function renderMatches(matches: readonly Json[], allowance: Allowance): Markup {
  return [
    'pre',
    {class: 'matches'},
    matches.map(match => {
      const text = allowance.head(textIn(match, 'content') ?? '');
      const where = `${textIn(match, 'file') ?? ''}:${numberIn(match, 'line') ?? ''}`;
      return element('span', {}, element('span', {class: 'ln'}, where), `  ${text}\n`);
    }),
  ];
}

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
