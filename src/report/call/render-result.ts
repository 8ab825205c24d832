import type {Json} from '../../core/json.ts';
import {isObject, listIn, numberIn, objectIn, textIn} from '../json-field.ts';
import {element, type Markup} from '../markup.ts';
import type {ReadArtifact} from '../read-artifact.ts';
import type {Allowance} from './allowance.ts';
import type {CallDetails} from './call-details.ts';
import {looksLikeDiff, renderDiff} from './render-diff.ts';
import {renderPageChunks} from './render-page-chunks.ts';
import {leftOut, renderFields, renderText} from './render-value.ts';

/** What of an output is shown: its end says how the command went. */
const TAIL = 16_384;
const STREAMS = ['stdout', 'stderr'] as const;

/** One titled piece of a call. */
export interface Part {
  readonly title: string;
  readonly content: readonly Markup[];
}

/** The answer of a tool, by its shape: the report knows no tool by name. */
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
