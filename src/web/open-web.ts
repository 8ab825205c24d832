import {ok, type Result} from '../core/result.ts';
import type {Replicas, Web, WebPorts, WebSettings} from './assemble-web.ts';
import {readCredentials} from './credentials/read-credentials.ts';
import type {FetchLimits, FetchOutcome, FetchRequest} from './fetch-page.ts';
import {readGuardPolicy} from './guard/guard-policy.ts';
import {readIdentity} from './identity/read-identity.ts';
import type {WebFetchOptions} from './options.ts';
import type {WebReadOptions} from './read/options.ts';
import {readProxySettings} from './transport/connect/proxy.ts';

/** The pipeline of `web_fetch`, of which nothing is loaded before the first call. */
export interface LazyWeb {
  /** Lines to log at start-up. */
  readonly warnings: readonly string[];
  readonly fetch: (request: FetchRequest, limits: FetchLimits) => Promise<Result<FetchOutcome>>;
  readonly read: Web['read'];
  readonly quote: Web['quote'];
  readonly file: Web['file'];
  readonly snapshotAddress: (snapshot: string) => Promise<string | undefined>;
  readonly probeBrowser: Web['probeBrowser'];
  readonly close: () => Promise<void>;
}

/** Checks the settings now and loads the rest when it is needed. The error holds what stops start-up. */
export function openWeb(
  options: WebFetchOptions,
  reading: Pick<WebReadOptions, 'mode'>,
  {
    replicas,
    ...ports
  }: Omit<WebPorts, 'replicas'> & {
    /** Opened with the rest. */
    readonly replicas?: (() => Promise<Replicas>) | undefined;
  },
): Result<LazyWeb, readonly string[]> {
  const guard = readGuardPolicy(options.security, options.allow_private);
  if (!guard.ok) return guard;
  const proxy = options.http.use_system_proxy ? readProxySettings(ports.env) : ok(undefined);
  if (!proxy.ok) return {ok: false, error: [proxy.error.message]};
  const {credentials, problems} = readCredentials(options.credentials, ports);
  if (problems.length > 0) return {ok: false, error: problems};
  const identity = readIdentity(options.identity, ports);
  if (!identity.ok) return {ok: false, error: [identity.error]};
  const {policy, warnings} = guard.value;
  const settings: WebSettings = {
    policy,
    proxy: proxy.value,
    credentials,
    signer: identity.value,
    readingMode: reading.mode,
  };

  let loading: Promise<Web> | undefined;
  const load = (): Promise<Web> => {
    loading ??= Promise.all([import('./assemble-web.ts'), replicas?.()]).then(([{assembleWeb}, shared]) =>
      assembleWeb(options, settings, {...ports, replicas: shared}),
    );
    return loading;
  };
  return ok({
    warnings,
    fetch: async (request, limits) => (await load()).fetch(request, limits),
    read: async (request, limits) => (await load()).read(request, limits),
    quote: async (request, limits) => (await load()).quote(request, limits),
    file: async (url, limits) => (await load()).file(url, limits),
    // What was never loaded has read nothing.
    snapshotAddress: async snapshot => (await loading)?.snapshotAddress(snapshot),
    probeBrowser: async signal => (await load()).probeBrowser(signal),
    close: async () => (await loading)?.close(),
  });
}
