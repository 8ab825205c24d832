import {expect, test} from 'vitest';
import {approvalOptions, openTestRuntime, ruleOf, toolOf} from '../../../test/support/open-test-runtime.ts';
import type {Approver} from '../../core/tool-host.ts';
import type {ApprovalOptions} from './options.ts';

const ALLOW = ruleOf({decision: 'allow', host: '.example.com'});
const DENY = ruleOf({decision: 'deny', host: 'denied.example', reason: 'It is the rival.'});
const ASK = ruleOf({decision: 'ask', host: '.ask.example'});

/** What of the hosts a call of `https://www.example.com/` may be led to. */
async function reached(options: Partial<ApprovalOptions>, hosts: readonly string[], approver?: Approver) {
  const fetch = toolOf('web_fetch', async ({mayReach}) => hosts.map(host => ({...mayReach(host)})), {
    action: 'web_fetch',
    subject: {kind: 'url', values: ['https://www.example.com/a?b']},
  });
  const {call} = await openTestRuntime({tools: [fetch], approval: approvalOptions(options), approver});
  const {data, error} = await call('web_fetch');
  expect(error).toBeNull();
  const decisions = data as readonly {allowed: boolean; reason?: string}[];
  return {
    allowed: hosts.filter((_, at) => decisions[at]?.allowed),
    reasons: decisions.flatMap(({reason = []}) => reason),
  };
}

const answer = (given: Awaited<ReturnType<Approver['ask']>>): Approver => ({ask: async () => given});

test('review R11: a denied host is out of reach in every spelling, whatever allowed the call', async () => {
  const hosts = [
    'denied.example',
    'DENIED.example.',
    'denied.example:8080',
    'other.example',
    'sub.denied.example',
  ];
  for (const options of [{mode: 'auto'}, {allowlist: ['web_fetch']}] as const) {
    const {allowed, reasons} = await reached({...options, rules: [DENY]}, hosts);
    expect(allowed).toEqual(['other.example', 'sub.denied.example']);
    expect(reasons[0]).toBe('tools.approval.rules[0] denies it: It is the rival.');
  }
  const {allowed} = await reached({rules: [DENY]}, hosts, answer({answer: 'once'}));
  expect(allowed).toEqual(['other.example', 'sub.denied.example']);
});

test('review R11: a call that an allow rule allowed stays within the hosts of such rules', async () => {
  const hosts = [
    'www.example.com',
    'cdn.example.com',
    'example.com',
    'other.example',
    '127.0.0.1',
    '::1',
    'denied.example',
  ];
  const rules = [ALLOW, DENY, ruleOf({decision: 'allow', host: '[::1]'})];
  const {allowed, reasons} = await reached({rules}, hosts);
  expect(allowed).toEqual(['www.example.com', 'cdn.example.com', '::1']);
  expect(reasons[0]).toBe('The call was allowed by a rule, and no rule allows this host.');
});

test.each(['session-rule', 'always'] as const)(
  'review R11: so does a call that was allowed with %s',
  async by => {
    const hosts = ['www.example.com', 'cdn.example.com', 'other.example'];
    const {allowed} = await reached({}, hosts, answer({answer: by, rule: ALLOW}));
    expect(allowed).toEqual(['www.example.com', 'cdn.example.com']);
    const once = await reached({}, hosts, answer({answer: 'once'}));
    expect(once.allowed).toEqual(hosts);
  },
);

test('review R11: a host that a rule asks about is asked about by itself', async () => {
  const {allowed, reasons} = await reached({mode: 'auto', rules: [ASK]}, ['a.ask.example', 'other.example']);
  expect(allowed).toEqual(['other.example']);
  expect(reasons).toEqual([
    'tools.approval.rules[0] asks about it, and a fetch that is under way cannot ask. Fetch that address in a call of its own.',
  ]);
});

test('review R11: the host of the call itself was decided about with the call', async () => {
  const ask = ruleOf({decision: 'ask', host: 'www.example.com'});
  const {allowed} = await reached(
    {rules: [ask]},
    ['www.example.com', 'WWW.example.com.'],
    answer({answer: 'once'}),
  );
  expect(allowed).toEqual(['www.example.com', 'WWW.example.com.']);
});

test('review R11: an IPv6 host is the same with and without brackets, and with a port', async () => {
  const rules = [ALLOW, ruleOf({decision: 'allow', host: '[::1]'})];
  const hosts = ['[::1]', '::1', '[::1]:8080', 'www.example.com:8080', '::2', '[::2]'];
  const {allowed} = await reached({rules}, hosts);
  expect(allowed).toEqual(['[::1]', '::1', '[::1]:8080', 'www.example.com:8080']);
});

test('review R11: a denial without a reason names the rule', async () => {
  const rules = [ruleOf({decision: 'deny', host: 'denied.example'})];
  const {reasons} = await reached({mode: 'auto', rules}, ['denied.example']);
  expect(reasons).toEqual(['tools.approval.rules[0] denies it.']);
});
