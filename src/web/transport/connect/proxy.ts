import {fail} from '../../../core/failure/fail.ts';
import {ok, type Result} from '../../../core/result.ts';
import {toUrl} from '../../../core/text/to-url.ts';
import type {WebUrl} from '../../page.ts';
import {type NoProxyRule, parseNoProxy} from './no-proxy.ts';

export interface ProxyServer {
  /** Name or address, without brackets. The operator chose it; it is not checked by the guard. */
  readonly host: string;
  readonly port: number;
  /** `Proxy-Authorization`, from the userinfo of the proxy's URL. Never shown. */
  readonly authorization: string | undefined;
}

/** Ruling A8: where requests go when `use_system_proxy` is on. */
export interface ProxySettings {
  readonly http: ProxyServer | undefined;
  readonly https: ProxyServer | undefined;
  readonly noProxy: readonly NoProxyRule[];
}

/**
 * HTTP_PROXY, HTTPS_PROXY and NO_PROXY; a lower-case name wins over its upper-case twin. A proxy that
 * cannot be used is `bad_args`: going around it silently is not what the operator asked for.
 */
export function readProxySettings(env: Readonly<Record<string, string | undefined>>): Result<ProxySettings> {
  const http = readServer(env, 'HTTP_PROXY');
  if (!http.ok) return http;
  const https = readServer(env, 'HTTPS_PROXY');
  if (!https.ok) return https;
  return ok({http: http.value, https: https.value, noProxy: parseNoProxy(read(env, 'NO_PROXY'))});
}

/** The proxy for a URL; `undefined` is a direct connection. */
export function proxyFor(settings: ProxySettings, url: WebUrl): ProxyServer | undefined {
  return settings.noProxy.some(rule => rule.matches(url)) ? undefined : settings[url.scheme];
}

function read(env: Readonly<Record<string, string | undefined>>, name: string): string {
  return (env[name.toLowerCase()] ?? env[name] ?? '').trim();
}

function readServer(
  env: Readonly<Record<string, string | undefined>>,
  variable: string,
): Result<ProxyServer | undefined> {
  const text = read(env, variable);
  if (text === '') return ok(undefined);
  const url = toUrl(text.includes('://') ? text : `http://${text}`);
  if (url === undefined) return unusable(variable, 'is not the URL of a proxy');
  if (url.protocol !== 'http:') return unusable(variable, `names a proxy of type "${url.protocol}"`);
  const credentials = decodeUserinfo(url);
  if (credentials === undefined) return unusable(variable, 'has credentials with a broken percent-encoding');
  return ok({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 80 : Number(url.port),
    authorization: credentials === '' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
  });
}

function decodeUserinfo(url: URL): string | undefined {
  if (url.username === '' && url.password === '') return '';
  try {
    return `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  } catch {
    return undefined;
  }
}

function unusable(variable: string, reason: string): Result<never> {
  return fail(
    'bad_args',
    `${variable} ${reason}. Use http://host:port, or turn tools.webfetch.http.use_system_proxy off.`,
    {field: variable, reason},
  );
}
