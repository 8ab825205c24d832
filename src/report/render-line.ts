// Renders calls and incidents as lines of the page's data, within its size.
import {Allowance, type CallDetails, readCallDetails} from './artifacts.ts';
import {embedJson, type SafeHtml} from './markup.ts';
import {renderCall} from './render-call.ts';
import {
  isObject,
  listIn,
  numberIn,
  type RecordedCall,
  type RunIncident,
  refusalOf,
  stateOf,
  textIn,
  waitingsOf,
} from './run-history.ts';
import type {RunReader} from './run-reader.ts';

/** Nobody reads more of one call in a page. */
const MOST_CHARACTERS = 400_000;
const LONGEST_SUMMARY = 240;

/** One line of the page's data: a call or an incident, ready for `assets/report/`. */
interface ReportLine {
  readonly line: SafeHtml;
  /** Not all of the call is in it. */
  readonly isCut: boolean;
  /** Artifacts that are not what the log vouches for. */
  readonly altered: number;
}

/** Renders a call into at most `share` characters. */
export async function renderCallLine(run: string, call: RecordedCall, share: number): Promise<ReportLine> {
  const details = await readCallDetails(run, call);
  const altered = [...details.diffs, ...details.outputs, ...details.others].filter(
    file => file.altered,
  ).length;
  const row = rowOf(call, details);
  const limit = Math.min(share, MOST_CHARACTERS);
  // Markup may be many times its text, so it is tried with less until it fits.
  for (let characters = limit; characters >= 200; characters = Math.floor(characters / 3)) {
    const allowance = new Allowance(characters);
    const line = embedJson({...row, body: renderCall(call, details, allowance)});
    if (line.length <= Math.max(limit, 2000)) return {line, isCut: allowance.cut > 0, altered};
  }
  const step = `step_${String(call.step).padStart(4, '0')}`;
  const note = `Left out, as the page has a limit. It is in calls/${step}.json of the run.`;
  return {line: embedJson({...row, body: ['p', {class: 'note'}, [note]]}), isCut: true, altered};
}

export function renderIncidentLine({at, event, payload}: RunIncident, index: number): ReportLine {
  const facts = Object.entries(payload)
    // That of the log says nothing to its reader.
    .filter(([name, value]) => (!Array.isArray(value) || value.length > 0) && name !== 'version')
    .map(
      ([name, value]) =>
        `${name.replaceAll('_', ' ')}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
  const named = event.replaceAll('_', ' ').toLowerCase();
  const sentence = `${named.charAt(0).toUpperCase()}${named.slice(1)}`;
  const text = [sentence, ...facts].join(', ').slice(0, LONGEST_SUMMARY);
  return {line: embedJson({incident: index, at, text}), isCut: false, altered: 0};
}

function rowOf(call: RecordedCall, details: CallDetails) {
  return {
    step: call.step,
    tool: call.tool.slice(0, 64),
    state: stateOf(call),
    summary: summaryOf(call, details),
    ...pageOf(details),
    error: call.errorType ?? null,
    by: refusalOf(call)?.by.slice(0, 200) ?? null,
    start: call.startedAt,
    end: call.endedAt ?? null,
    waits: waitingsOf(call).map(([from, to]) => [from, to ?? null]),
    run: call.runSeconds ?? null,
    wait: call.waitSeconds,
  };
}

/** Of a page that was read: its title, and the tokens of what was handed on. */
function pageOf({result}: CallDetails): {readonly title: string | null; readonly tokens: number | null} {
  const data = result['data'];
  const parts = [...listIn(data, 'chunks'), ...listIn(data, 'passages'), ...listIn(data, 'sections')];
  const counts = parts.flatMap(part => numberIn(part, 'token_count') ?? numberIn(part, 'tokens') ?? []);
  const isPage = textIn(data, 'final_url') !== undefined;
  return {
    title: isPage ? oneLine(textIn(data, 'title') ?? '') || null : null,
    tokens: isPage ? counts.reduce((sum, count) => sum + count, 0) : null,
  };
}

/** What the tool says it is about, without its name, or the first argument that is a text. */
function summaryOf({tool, params}: RecordedCall, {summary}: CallDetails): string {
  if (summary !== undefined) {
    const rest = summary.startsWith(`${tool} `) ? summary.slice(tool.length + 1) : summary;
    return oneLine(rest);
  }
  const texts = isObject(params) ? Object.values(params).filter(value => typeof value === 'string') : [];
  return oneLine(texts[0] ?? '');
}

function oneLine(text: string): string {
  return text.slice(0, LONGEST_SUMMARY).replace(/\s+/g, ' ').trim();
}

/** Calls that are read at the same time. */
const TOGETHER = 16;

/** Every call gets its part of the page; what one does not need is left to those that follow. */
export async function renderLines(
  {path, history}: Pick<RunReader, 'path' | 'history'>,
  mostCharacters: number,
): Promise<readonly ReportLine[]> {
  const entries = [...history.entries];
  const lines: ReportLine[] = [];
  let left = mostCharacters;
  for (let at = 0; at < entries.length; at += TOGETHER) {
    const share = Math.floor(left / (entries.length - at));
    const group = await Promise.all(
      entries.slice(at, at + TOGETHER).map((entry, index) => {
        if (!('step' in entry)) return renderIncidentLine(entry, at + index);
        return renderCallLine(path, entry, share);
      }),
    );
    for (const {line} of group) left -= line.length;
    lines.push(...group);
  }
  return lines;
}
