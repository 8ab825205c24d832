import {ok, type Result} from '../../../core/result.ts';

/**
 * `example.com` is that host only, `.example.com` every host below it, as in `js_heavy_domains`.
 * Hosts are compared as WHATWG prints them, so that case, IDN and a trailing dot make no difference.
 */
export function compileHostPattern(pattern: string): Result<(url: string) => boolean, string> {
  const below = pattern.startsWith('.');
  const name = below ? pattern.slice(1) : pattern;
  if (name.includes('*')) return {ok: false, error: 'has "*"; write .example.com for all hosts below it'};
  if (/[/\\?#@\s]/.test(name) || /:\d*$/.test(name.replace(/^\[[^\]]*\]/, ''))) {
    return {ok: false, error: 'is more than a host; leave scheme, port and path out'};
  }
  const host = hostOf(`http://${name}/`);
  if (host === undefined || host === '') return {ok: false, error: 'is no host name'};
  return ok(url => {
    const actual = hostOf(url);
    if (actual === undefined) return false;
    return below ? actual.endsWith(`.${host}`) : actual === host;
  });
}

function hostOf(url: string): string | undefined {
  try {
    return new URL(url).hostname.replace(/\.$/, '');
  } catch {
    return undefined;
  }
}
