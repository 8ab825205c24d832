import {mkdtemp, realpath, rm} from 'node:fs/promises';
import {join} from 'node:path';
import type {Config} from '../config/config-schema.ts';
import type {Environment} from '../config/environment.ts';
import {systemClock} from '../core/clock.ts';
import type {EgressGate} from '../core/egress/egress-gate.ts';
import {silentLog} from '../core/log.ts';
import {EGRESS_PRESETS} from '../egress/presets.data.ts';
import type {RunOptions} from '../sandbox/options.ts';
import type {SandboxKind} from '../sandbox/sandbox.ts';
import type {Probe} from '../tools/probe-dependencies.ts';
import {openEgress} from './open-egress.ts';

const ABOUT = {
  name: 'Way out',
  version: undefined,
  neededFor: 'commands reach none of the hosts in tools.run.egress',
  remedy: 'read docs/egress.md, or leave tools.run.egress empty',
};

/** Names of the dependencies, and what `tools.run.sandbox` calls them. */
const SANDBOXES = {bubblewrap: 'bubblewrap', Docker: 'docker'} as const satisfies Record<string, SandboxKind>;

/** For `doctor`: the hosts that commands reach, and whether they do from each sandbox that is there and may be taken. */
export async function tryEgress(
  {tools}: Config,
  environment: Environment,
  {found, signal}: {readonly found: readonly Probe[]; readonly signal: AbortSignal},
): Promise<readonly Probe[]> {
  const {run, webfetch} = tools;
  if (!run.enabled || run.egress.allow.length + run.egress.presets.length === 0) return [];
  const hosts = describe(run.egress);
  if (run.sandbox === 'none') {
    return [{...ABOUT, state: 'unused', detail: `${hosts}; commands have the network of the host`}];
  }
  const names = Object.entries(SANDBOXES).filter(
    ([name, kind]) =>
      (run.sandbox === 'auto' || run.sandbox === kind) &&
      found.some(probe => probe.name === name && probe.state === 'ok'),
  );
  const place = await realpath(await mkdtemp(join(environment.tempDir, 'forge-doctor-')));
  const gate = openEgress(run, {
    web: webfetch,
    resolver: undefined,
    env: environment.env,
    workspace: place,
    certificateAuthorities: [],
    clock: systemClock,
  });
  if (!gate.ok) {
    await rm(place, {recursive: true, force: true});
    return [{...ABOUT, state: 'broken', detail: gate.error.join(' ')}];
  }
  try {
    const tried: string[] = [];
    for (const [name, kind] of names) {
      const problem = await tryRelay({...run, sandbox: kind}, {place, environment, gate: gate.value, signal});
      tried.push(problem === undefined ? `works in ${name}` : `does not work in ${name}: ${problem}`);
    }
    const works = tried.length > 0 && tried.every(words => words.startsWith('works'));
    const detail = [hosts, ...(tried.length === 0 ? ['there is no sandbox to try it in'] : tried)].join('; ');
    return [{...ABOUT, state: works ? 'ok' : 'broken', detail}];
  } finally {
    await gate.value?.close();
    await rm(place, {recursive: true, force: true});
  }
}

/** What the operator wrote, with what stands behind each preset. No secret is in it. */
function describe({allow, presets, credentials}: RunOptions['egress']): string {
  const known = new Map<string, {readonly hosts: readonly string[]}>(Object.entries(EGRESS_PRESETS));
  return [
    ...(allow.length > 0 ? [`hosts ${allow.join(', ')}`] : []),
    ...presets.map(name => `preset ${name} (${known.get(name)?.hosts.join(', ') ?? 'unknown'})`),
    ...credentials.map(({host, header}) => `${header} for ${host}`),
  ].join('; ');
}

async function tryRelay(
  options: RunOptions,
  {
    place,
    environment,
    gate,
    signal,
  }: {
    readonly place: string;
    readonly environment: Environment;
    readonly gate: EgressGate | undefined;
    readonly signal: AbortSignal;
  },
): Promise<string | undefined> {
  const [{createSandbox}, {probeRelay}] = await Promise.all([
    import('../sandbox/create-sandbox.ts'),
    import('../sandbox/egress/probe-relay.ts'),
  ]);
  const sandbox = createSandbox(options, {
    workspace: place,
    protectedPaths: [],
    env: environment.env,
    egress: gate,
    clock: systemClock,
    log: silentLog,
  });
  try {
    const answered = await probeRelay(sandbox, signal);
    if (!answered.ok) return answered.error.message;
    return answered.value ? undefined : 'the gate was not heard in it';
  } finally {
    await sandbox.close();
  }
}
