import {Budget} from '../core/budget.ts';
import type {Clock} from '../core/clock.ts';
import type {EgressGate, EgressTarget} from '../core/egress/egress-gate.ts';
import {fail} from '../core/failure/fail.ts';
import {ok, type Result} from '../core/result.ts';
import {type AllowList, readAllowList} from '../egress/allow-list.ts';
import type {RunOptions} from '../sandbox/options.ts';
import type {HostResolver} from '../web/guard/dns/host-resolver.ts';
import type {WebFetchOptions} from '../web/options.ts';

const MIB = 1_048_576;
const RESOLVE_TIMEOUT_MS = 10_000;
/** An answer is checked and kept so long, so that a hundred connections to one host are one look-up. */
const PINNED_MS = 30_000;

export interface EgressPorts {
  readonly web: WebFetchOptions;
  readonly resolver: HostResolver | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workspace: string;
  readonly clock: Clock;
}

/**
 * Ruling X1: the way out of the sandbox, `undefined` where no host is allowed. It goes by the guard of `web_fetch`,
 * with what the operator opened for it. Loaded with the first sandbox. The error holds what stops start-up.
 */
export function openEgress(
  options: RunOptions['egress'],
  ports: EgressPorts,
): Result<EgressGate | undefined, readonly string[]> {
  const allowList = readAllowList(options);
  if (!allowList.ok) return allowList;
  if (allowList.value.isEmpty) return ok(undefined);
  let loading: Promise<EgressGate> | undefined;
  return ok({
    open: async uid => {
      loading ??= loadGate(options, allowList.value, ports);
      return (await loading).open(uid);
    },
    close: async () => (await loading)?.close(),
  });
}

async function loadGate(
  options: RunOptions['egress'],
  allowList: AllowList,
  {web, resolver, env, workspace, clock}: EgressPorts,
): Promise<EgressGate> {
  const {createGate} = await import('../egress/create-gate.ts');
  return createGate({
    allowList,
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
    import('../web/guard/guard-policy.ts'),
    import('../web/guard/check-url.ts'),
    import('../web/guard/create-guard.ts'),
    import('../web/guard/ssrf-validator.ts'),
    import('../web/guard/host-pins.ts'),
    import('../web/url/parse-url.ts'),
    import('../web/guard/dns/system-resolver.ts'),
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
    const budget = new Budget(RESOLVE_TIMEOUT_MS, clock, signal);
    try {
      const target = await createGuard(validator, policy).authorize(checked.value, pins, budget);
      return target.ok ? ok(target.value.addresses) : target;
    } finally {
      budget.close();
    }
  };
}
