// Checks the settings at start-up and loads the pipeline at the first call.

import {ok, type Result} from '../core/result.ts';
import type {Web} from './assemble-web.ts';
import {withWayToOpen} from './guard/guard.ts';
import {readGuardPolicy} from './guard/policy.ts';
import {readCredentials} from './navigate/credentials.ts';
import {readIdentity} from './navigate/request-signer.ts';
import type {WebFetchOptions, WebReadOptions, WebSearchOptions} from './options.ts';
import {readEngines} from './search/read-engines.ts';
import {readProxySettings} from './transport/proxy.ts';
import {parseUrl} from './url.ts';
import type {Replicas, WebPorts, WebSettings} from './web-context.ts';

/** The pipeline of `web_fetch`. Nothing of it is loaded before the first call. */
export interface LazyWeb
  extends Pick<Web, 'fetch' | 'read' | 'quote' | 'file' | 'search' | 'probeBrowser' | 'close'> {
  /** Lines to log at start-up. */
  readonly warnings: readonly string[];
  readonly snapshotAddress: (snapshot: string) => Promise<string | undefined>;
}

/** Checks the settings now and loads the rest when it is needed. The error holds what stops start-up. */
export function openWeb(
  options: WebFetchOptions,
  reading: Pick<WebReadOptions, 'mode'>,
  {
    replicas,
    configFile,
    searching,
    ...ports
  }: Omit<WebPorts, 'replicas'> & {
    /** Default: no engine. */
    readonly searching?: WebSearchOptions | undefined;
    /** Opened with the rest. */
    readonly replicas?: (() => Promise<Replicas>) | undefined;
    /** Failures of the guard name it. */
    readonly configFile?: string | undefined;
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
  const engines = readEngines(searching?.engines ?? [], ports);
  if (!engines.ok) return engines;
  const {policy, warnings} = guard.value;
  const settings: WebSettings = {
    policy,
    proxy: proxy.value,
    credentials,
    signer: identity.value,
    readingMode: reading.mode,
    search: searching && {options: searching, engines: engines.value, configFile},
  };

  let loading: Promise<Web> | undefined;
  const load = (): Promise<Web> => {
    loading ??= Promise.all([import('./assemble-web.ts'), replicas?.()]).then(([{assembleWeb}, shared]) =>
      assembleWeb(options, settings, {...ports, replicas: shared}),
    );
    return loading;
  };
  /** Loads the rest for a call. A refusal of the guard says how to open what it refused. */
  const late =
    <Asked extends string | {readonly url: string}, Limits, Value>(
      method: (web: Web) => (asked: Asked, limits: Limits) => Promise<Result<Value>>,
    ) =>
    async (asked: Asked, limits: Limits): Promise<Result<Value>> => {
      const outcome = await method(await load())(asked, limits);
      if (outcome.ok) return outcome;
      const url = parseUrl(typeof asked === 'string' ? asked : asked.url);
      return url.ok
        ? {ok: false, error: withWayToOpen(outcome.error, url.value, policy, configFile)}
        : outcome;
    };
  return ok({
    warnings,
    fetch: late(web => web.fetch),
    read: late(web => web.read),
    quote: late(web => web.quote),
    file: late(web => web.file),
    search: async (request, limits) => (await load()).search(request, limits),
    // What was never loaded has read nothing.
    snapshotAddress: async snapshot => (await loading)?.snapshotAddress(snapshot),
    probeBrowser: async signal => (await load()).probeBrowser(signal),
    close: async () => (await loading)?.close(),
  });
}
