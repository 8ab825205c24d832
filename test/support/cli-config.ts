import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {temporaryDirectory} from './temporary-directory.ts';

export interface CliConfig {
  /** A fresh directory, to work in. */
  readonly cwd: string;
  /** With it, runs and caches stay in a directory of their own. */
  readonly env: Readonly<Record<string, string>>;
  /** `--config FILE`, without log lines. */
  readonly flags: readonly string[];
}

/** A configuration file that offers the tools, with `more` of it. */
export function cliConfig(more = ''): CliConfig {
  const directory = temporaryDirectory();
  const file = join(directory, 'config.toml');
  writeFileSync(file, `[tools]\nmode = "enabled"\n[tools.webfetch]\nenabled = true\ncache_dir = ""\n${more}`);
  return {
    cwd: temporaryDirectory(),
    env: {XDG_STATE_HOME: join(directory, 'state')},
    flags: ['--config', file],
  };
}
