import type {ResolverRules} from './parse-resolv-conf.ts';

/** The names to ask for, in order: resolv.conf(5), `search` and `ndots`. */
export function searchNames(
  name: string,
  {search, ndots}: Pick<ResolverRules, 'search' | 'ndots'>,
): readonly string[] {
  const dots = name.split('.').length - 1;
  const below = search.map(domain => `${name}.${domain}`);
  return dots >= ndots ? [name, ...below] : [...below, name];
}
