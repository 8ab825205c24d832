// Renders everything about one call, as the inside of its row.
import {timestamp} from '../core/clock.ts';
import type {Allowance, CallDetails} from './artifacts.ts';
import {type Element, element, type Markup} from './markup.ts';
import {CONNECTION, type Part, problemOf, renderConnections, renderResult} from './render-result.ts';
import {looksLikeDiff, renderFields, renderText} from './render-values.ts';
import {
  type CallEvent,
  isObject,
  numberIn,
  objectIn,
  type RecordedCall,
  refusalOf,
  stateOf,
  textIn,
} from './run-history.ts';

export function renderCall(call: RecordedCall, details: CallDetails, allowance: Allowance): Element {
  const parts: readonly Part[] = [
    ...renderRefusal(call),
    ...renderError(call, details, allowance),
    ...renderArguments(details, allowance),
    ...renderResult(details, allowance),
    ...renderApprovals(call, details, allowance),
    ...renderConnections(call, allowance),
    ...renderToolEvents(call, allowance),
    renderFacts(call, details),
  ];
  const sections = parts.map(({title, content}): Element => {
    return ['section', {}, [element('h4', {}, title), ...content]];
  });
  return ['div', {class: 'body'}, [...details.others.flatMap(problemOf), ...sections]];
}

function renderRefusal(call: RecordedCall): readonly Part[] {
  const refusal = refusalOf(call);
  if (refusal === undefined) return [];
  const {by, reason} = refusal;
  const why = reason === undefined || reason === '' ? [] : [element('p', {}, reason)];
  const rule = element('p', {}, 'Rule: ', element('code', {}, by));
  return [{title: 'Refused', content: [element('div', {class: 'refusal'}, rule, ...why)]}];
}

function renderError(call: RecordedCall, details: CallDetails, allowance: Allowance): readonly Part[] {
  if (call.status !== 'error') {
    const note = call.status === undefined && call.cutOff ? ['The process ended before the call did.'] : [];
    return note.map(text => ({title: 'Cut off', content: [element('p', {}, text)]}));
  }
  const error = objectIn(details.result, 'error');
  const guard = call.events.findLast(({event}) => event === 'guard_blocked')?.payload;
  const message = textIn(error, 'message') ?? textIn(guard, 'message') ?? '';
  const given = {
    ...(Object.keys(error).length > 0 ? objectIn(error, 'details') : objectIn(guard, 'details')),
  };
  // Shown as output.
  const {partial: _, ...more} = given;
  return [
    {
      title: `Error: ${call.errorType ?? 'unknown'}`,
      content: [
        renderText(message, allowance),
        ...(Object.keys(more).length > 0 ? [renderFields(Object.entries(more), allowance)] : []),
      ],
    },
  ];
}

/** A diff that is shown as the change it made is not shown twice. */
function renderArguments({params, diffs}: CallDetails, allowance: Allowance): readonly Part[] {
  if (!isObject(params))
    return [{title: 'Arguments', content: [renderText(JSON.stringify(params), allowance)]}];
  const fields = Object.entries(params).filter(([, value]) => !diffs.some(({text}) => text === value));
  const isRepeated = fields.length < Object.keys(params).length;
  if (isRepeated && fields.length === 0) return [];
  return [{title: 'Arguments', content: [renderFields(fields, allowance)]}];
}

function renderApprovals(call: RecordedCall, {preview}: CallDetails, allowance: Allowance): readonly Part[] {
  const asked = call.events.filter(({event}) => event.startsWith('approval_'));
  if (asked.length === 0) return [];
  const isPlain = preview !== undefined && !looksLikeDiff(preview) && preview.includes('\n');
  const shown = isPlain ? [renderText(preview, allowance)] : [];
  return [{title: 'Approval', content: [...asked.map(renderApproval), ...shown]}];
}

/** What approvers answer, as a sentence says it. */
const ANSWERS: Readonly<Record<string, string>> = {
  once: 'Allowed this once.',
  session: 'Allowed, and the same call for the session.',
  always: 'Allowed, and calls like it from now on.',
  'session-rule': 'Allowed, and calls like it for the session.',
  'session grant': 'Allowed before, for the session.',
  'session rule': 'Allowed by a rule that was given for the session.',
  'read-only': 'Allowed, as the tool has no side effects.',
};

function renderApproval({at, event, payload}: CallEvent): Element {
  const by = (textIn(payload, 'by') ?? '?').slice(0, 300);
  const id = textIn(payload, 'approval_id');
  const waited = numberIn(payload, 'wait_sec') ?? 0;
  const what =
    event === 'approval_requested' ? 'asked because of' : `${textIn(payload, 'decision') ?? '?'} by`;
  const more = [
    ...(id === undefined ? [] : [`, waits as ${id.slice(0, 40)}`]),
    ...(waited >= 0.05 ? [` after ${waited.toFixed(1)} s`] : []),
    ...['reason', 'rule_problem'].flatMap(name => {
      const text = textIn(payload, name) ?? '';
      return text === '' ? [] : [`: ${text.slice(0, 500)}`];
    }),
  ];
  const when = element('span', {class: 'note'}, `${timestamp(at).slice(11, 23)} `);
  const answer =
    textIn(payload, 'decision') === 'allowed' && Object.hasOwn(ANSWERS, by) ? ANSWERS[by] : undefined;
  if (answer !== undefined) return element('p', {}, when, answer, ...more);
  return element('p', {}, when, `${what} `, element('code', {}, by), ...more);
}

/** What tools say of themselves, such as `PATCH_APPLIED`. */
function renderToolEvents(call: RecordedCall, allowance: Allowance): readonly Part[] {
  return call.events
    .filter(({event}) => !event.startsWith('approval_') && event !== 'guard_blocked' && event !== CONNECTION)
    .map(({event, payload}: CallEvent) => {
      const fields = Object.entries(payload).filter(([name]) => name !== 'step' && name !== 'request_id');
      return {title: allowance.head(event, 100), content: [renderFields(fields, allowance)]};
    });
}

function renderFacts(call: RecordedCall, details: CallDetails): Part {
  const facts: readonly (readonly [string, string])[] = [
    ['request', call.requestId],
    ['state', stateOf(call)],
    ['started', timestamp(call.startedAt)],
    ...(call.endedAt === undefined ? [] : [['ended', timestamp(call.endedAt)] as const]),
    ...(call.runSeconds === undefined ? [] : [['ran', `${call.runSeconds} s`] as const]),
    ...(call.waitSeconds === 0 ? [] : [['waited for an answer', `${call.waitSeconds} s`] as const]),
  ];
  const files = [...details.diffs, ...details.outputs, ...details.others].map(({path}) => path);
  const rows = [...facts, ...(files.length > 0 ? [['files of the run', files.join('\n')] as const] : [])];
  const cells = rows.flatMap(([name, value]): readonly Markup[] => [
    element('dt', {}, name),
    element('dd', {}, element('code', {}, value.slice(0, 2000))),
  ]);
  return {title: 'Record', content: [['dl', {}, cells]]};
}
