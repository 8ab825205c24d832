import {normalizePath} from './normalize-path.ts';

export interface NormalPattern {
  /** ASCII; every `*` is a wildcard, and a `$` stands at the end only. */
  readonly pattern: string;
  /** FR-WF-ROBOTS-RULE-01: characters of the normalised pattern, `*` and `$` included. */
  readonly length: number;
}

const PLAIN = /^[A-Za-z0-9\-._~:/?#[\]@!&()+,;=*]*\$?$/;

/** Ruling B4: the pattern of a rule in the spelling of `normalizePath`, its wildcards left alone. */
export function normalizePattern(written: string): NormalPattern {
  if (PLAIN.test(written)) return {pattern: written, length: written.length};
  const anchor = written.endsWith('$') ? '$' : '';
  const body = written.slice(0, written.length - anchor.length);
  const pattern = body.split('*').map(normalizePath).join('*') + anchor;
  // `$` and `'` are three characters in that spelling, but one in the rule.
  const single = body.match(/[$']/g)?.length ?? 0;
  return {pattern, length: pattern.length - 2 * single};
}
