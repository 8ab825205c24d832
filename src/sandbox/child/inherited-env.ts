import type {RunOptions} from '../options.ts';

/** What a command gets by itself: a home to write to, and the variables of the host that are listed. */
export function inheritedEnv(
  options: RunOptions,
  hostEnv: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const env: Record<string, string> = {HOME: '/tmp', TMPDIR: '/tmp', TERM: 'dumb'};
  for (const name of options.inherit_env) {
    const value = hostEnv[name];
    if (value !== undefined && value !== '') env[name] = value;
  }
  return env;
}
