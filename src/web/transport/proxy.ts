// Which proxy a request goes through, by the environment.

import {fail, ok, type Result} from '../../core/result.ts';
import {toUrl} from '../../core/text/parse.ts';
import {formatIp, type IpAddress, parseIp, parseIpRange, rangeContains, unmapIp} from '../guard/ip.ts';
import type {WebUrl} from '../page.ts';

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

/** One entry of NO_PROXY, read once. */
interface NoProxyRule {
  readonly matches: (url: WebUrl) => boolean;
}

/**
 * `*`, `example.com` (and its subdomains), `.example.com` (subdomains only), `10.0.0.1`, `10.0.0.0/8`,
 * `[::1]`, each but `*` and ranges also with `:port`. Addresses and ranges are compared with literal
 * hosts only, as curl and Go do. An entry that is none of these matches nothing.
 */
function parseNoProxy(list: string): readonly NoProxyRule[] {
  return list
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(entry => ({matches: matcher(entry.toLowerCase())}));
}

function matcher(entry: string): (url: WebUrl) => boolean {
  if (entry === '*') return () => true;
  const range = parseIpRange(entry);
  if (range !== undefined) {
    return url => {
      const address = literalAddress(url);
      return address !== undefined && rangeContains(range, address);
    };
  }
  const {host, port} = splitPort(entry);
  const onPort = (url: WebUrl): boolean => port === undefined || url.port === port;
  if (parseIp(host) !== undefined) {
    const wanted = canonicalAddress(host);
    return url => onPort(url) && url.address !== undefined && canonicalAddress(url.address) === wanted;
  }
  const name = host.replace(/^\*(?=\.)/, '').replace(/\.$/, '');
  const suffix = name.startsWith('.') ? name : `.${name}`;
  return url => onPort(url) && url.address === undefined && (url.name === name || url.name.endsWith(suffix));
}

function literalAddress({address}: WebUrl): IpAddress | undefined {
  const parsed = address === undefined ? undefined : parseIp(address);
  return parsed && unmapIp(parsed);
}

function splitPort(entry: string): {readonly host: string; readonly port: number | undefined} {
  const match = /^(?:\[([^\]]*)\]|([^:]*))(?::([0-9]{1,5}))?$/.exec(entry);
  const host = match?.[1] ?? match?.[2];
  // An IPv6 address without brackets has colons of its own and no port.
  if (host === undefined) return {host: entry, port: undefined};
  return {host, port: match?.[3] === undefined ? undefined : Number(match[3])};
}

/** One text for one address: `::ffff:10.0.0.1` is `10.0.0.1`, `2001:DB8:0::1` is `2001:db8::1`. */
export function canonicalAddress(address: string): string {
  const parsed = parseIp(address);
  return parsed === undefined ? address : formatIp(unmapIp(parsed));
}
