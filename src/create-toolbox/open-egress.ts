// Opens the way out of commands: its allow-list, its credentials and the gate.
import {realpathSync} from 'node:fs';
import type {Clock} from '../core/clock.ts';
import {Deadline} from '../core/deadline.ts';
import type {EgressGate, EgressTarget} from '../core/egress-gate.ts';
import {fail, ok, type Result} from '../core/result.ts';
import {type AllowList, EGRESS_PRESETS, readAllowList} from '../egress/allow-list.ts';
import type {EgressCredential} from '../egress/forward-requests.ts';
import type {RunOptions} from '../sandbox/options.ts';
import type {Sandbox} from '../sandbox/sandbox.ts';
import type {Probe} from '../tools/probe-dependencies.ts';
import type {HostResolver} from '../web/guard/resolver.ts';
import {readCredentials} from '../web/navigate/credentials.ts';
import type {WebFetchOptions} from '../web/options.ts';

const MIB = 1_048_576;
const RESOLVE_TIMEOUT_MS = 10_000;
/** An answer is checked and kept so long, so that a hundred connections to one host are one look-up. */
const PINNED_MS = 30_000;

interface EgressPorts {
  readonly web: WebFetchOptions;
  readonly resolver: HostResolver | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workspace: string;
  /** PEM certificates trusted beside the system's. */
  readonly certificateAuthorities: readonly string[];
  readonly clock: Clock;
}

const CREDENTIALS = 'tools.run.egress.credentials';

/**
 * Ruling X1: the way out of the sandbox, `undefined` where no host is allowed. It goes by the guard of `web_fetch`,
 * with what the operator opened for it. Loaded with the first sandbox. The error holds what stops start-up.
 */
export function openEgress(
  run: Pick<RunOptions, 'egress' | 'inherit_env' | 'readable_paths' | 'sandbox'>,
  ports: EgressPorts,
): Result<EgressGate | undefined, readonly string[]> {
  const {egress: options} = run;
  const allowList = readAllowList(options);
  if (!allowList.ok) return allowList;
  const credentials = readEgressCredentials(run, allowList.value, ports);
  if (!credentials.ok) return credentials;
  if (allowList.value.isEmpty) return ok(undefined);
  let loading: Promise<EgressGate> | undefined;
  return ok({
    endsTls: credentials.value.length > 0,
    open: async uid => {
      loading ??= loadGate(options, {allowList: allowList.value, credentials: credentials.value}, ports);
      return (await loading).open(uid);
    },
    close: async () => (await loading)?.close(),
  });
}

/** What no command is to hold is not given to commands by another setting. */
function readEgressCredentials(
  {egress: {credentials: entries}, inherit_env, readable_paths, sandbox}: Parameters<typeof openEgress>[0],
  allowList: AllowList,
  {env, workspace}: EgressPorts,
): Result<readonly EgressCredential[], readonly string[]> {
  const {credentials, problems} = readCredentials(entries, {env, untrustedTrees: [workspace]}, CREDENTIALS);
  const shared = entries.flatMap(({env: name, file}, index) => {
    const at = `${CREDENTIALS}[${index}]`;
    // Such a command is a process of our user: it reads our environment and our files.
    if (sandbox === 'none') {
      return [
        `${at} needs a sandbox. With tools.run.sandbox = "none" commands read the secret. Take one out.`,
      ];
    }
    if (name !== '' && inherit_env.includes(name)) {
      return [`${at}.env is in tools.run.inherit_env, so commands hold it. Take it out there.`];
    }
    const tree = ['/usr', ...readable_paths].find(path => file !== '' && liesBelow(file, path));
    return tree === undefined
      ? []
      : [`${at}.file is in ${tree}, which commands read. Move ${file} elsewhere.`];
  });
  if (problems.length + shared.length > 0) return {ok: false, error: [...problems, ...shared]};
  const read = credentials.map(({origin, header, value}, index): EgressCredential => {
    const {hostname, port} = new URL(origin);
    const by = `${CREDENTIALS}[${index}]`;
    return {host: hostname, port: port === '' ? 443 : Number(port), header, value, by};
  });
  const unlisted = read
    .filter(({host, port}) => allowList.allowing({scheme: 'https', host, port}) === undefined)
    .map(({by, host, port}) => {
      const name = port === 443 ? host : `${host}:${port}`;
      return `${by} is for ${JSON.stringify(name)}, which tools.run.egress.allow does not name. Add it there.`;
    });
  return unlisted.length > 0 ? {ok: false, error: unlisted} : ok(read);
}

/** By their real paths; what is not there lies nowhere. */
function liesBelow(file: string, tree: string): boolean {
  try {
    return `${realpathSync(file)}/`.startsWith(`${realpathSync(tree)}/`);
  } catch {
    return false;
  }
}

async function loadGate(
  options: RunOptions['egress'],
  {
    allowList,
    credentials,
  }: {readonly allowList: AllowList; readonly credentials: readonly EgressCredential[]},
  {web, resolver, env, workspace, certificateAuthorities, clock}: EgressPorts,
): Promise<EgressGate> {
  const {createGate} = await import('../egress/create-gate.ts');
  const credentialed =
    credentials.length === 0
      ? undefined
      : (await import('../egress/forward-requests.ts')).createCredentialedHosts(
          credentials,
          await trusted(certificateAuthorities, env),
          clock,
        );
  return createGate({
    allowList,
    credentialed,
    authorize: await authorizer(web, resolver, clock),
    clock,
    limits: {
      maxConnections: options.max_connections,
      maxBytes: options.max_mb * MIB,
      maxConnectionMs: options.max_connection_sec * 1000,
    },
    places: [env['TMPDIR'] ?? '', '/tmp', '/var/tmp', env['XDG_RUNTIME_DIR'] ?? ''],
    workspace,
  });
}

/** As `web_fetch` believes hosts; `undefined` stands for what Node believes. */
async function trusted(own: readonly string[], env: EgressPorts['env']): Promise<string[] | undefined> {
  if (own.length === 0) return undefined;
  const {trustedAuthorities} = await import('../web/transport/connect.ts');
  return trustedAuthorities(own, env['NODE_EXTRA_CA_CERTS']);
}

/** Every answer is checked, as for a page; only that the port is allowed is said by the entry that allows the host. */
async function authorizer(web: WebFetchOptions, given: HostResolver | undefined, clock: Clock) {
  const [
    {readGuardPolicy},
    {checkUrl},
    {createGuard},
    {createSsrfValidator},
    {HostPins},
    {parseUrl},
    system,
  ] = await Promise.all([
    import('../web/guard/policy.ts'),
    import('../web/guard/check-url.ts'),
    import('../web/guard/guard.ts'),
    import('../web/guard/guard.ts'),
    import('../web/guard/guard.ts'),
    import('../web/url.ts'),
    import('../web/guard/resolver.ts'),
  ]);
  const settings = readGuardPolicy(web.security, web.allow_private);
  if (!settings.ok) throw new Error('Expected settings that were checked when the toolbox was made.');
  const {policy: base} = settings.value;
  const validator = createSsrfValidator(base, given ?? system.createSystemResolver());
  let pins = new HostPins();
  let pinnedAt = clock.monotonic();
  return async (
    {scheme, host, port}: EgressTarget,
    signal: AbortSignal,
  ): Promise<Result<readonly string[]>> => {
    if (clock.monotonic() - pinnedAt > PINNED_MS) {
      pins = new HostPins();
      pinnedAt = clock.monotonic();
    }
    const url = parseUrl(`${scheme}://${host}:${port}/`);
    if (!url.ok) return url;
    if (url.value.address !== undefined || url.value.name !== host) {
      return fail('invalid_host', `"${host}" is no DNS name.`, {host});
    }
    const policy = {...base, allowedPorts: [port]};
    const checked = checkUrl(url.value, policy, true);
    if (!checked.ok) return checked;
    const budget = new Deadline(RESOLVE_TIMEOUT_MS, clock, signal);
    try {
      const target = await createGuard(validator, policy).authorize(checked.value, pins, budget);
      return target.ok ? ok(target.value.addresses) : target;
    } finally {
      budget.close();
    }
  };
}

const ABOUT = {
  name: 'Way out',
  version: undefined,
  neededFor: 'commands reach none of the hosts in tools.run.egress',
  remedy: 'read docs/egress.md, or leave tools.run.egress empty',
};

/** For `doctor`: the hosts that commands reach, and whether they do from the sandbox that `run` takes. */
export async function tryEgress(
  {sandbox: kind, egress}: RunOptions,
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<readonly Probe[]> {
  if (egress.allow.length + egress.presets.length === 0) return [];
  const hosts = describe(egress);
  if (kind === 'none') {
    return [{...ABOUT, state: 'unused', detail: `${hosts}; commands have the network of the host`}];
  }
  const {probeRelay} = await import('../sandbox/egress-channel.ts');
  const answered = await probeRelay(sandbox, signal);
  if (answered.ok && answered.value) return [{...ABOUT, state: 'ok', detail: `${hosts}; works`}];
  const problem = answered.ok ? 'the gate was not heard in the sandbox' : answered.error.message;
  return [{...ABOUT, state: 'broken', detail: `${hosts}; does not work: ${problem}`}];
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
