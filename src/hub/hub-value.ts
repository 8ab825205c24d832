import type {Failure} from '../core/failure/failure.ts';
import type {Result} from '../core/result.ts';

/** A script that runs as one step in the engine. */
export interface HubScript {
  /** For messages. */
  readonly name: string;
  readonly lua: string;
}

/** What a script answers. It is a stranger's: look at its shape before you use it. */
export type HubValue<Bulk = string> = Bulk | number | null | readonly HubValue<Bulk>[];

export type HubArgument = string | number | Buffer;

export interface RunOptions {
  /** Beyond it the call fails, and the script may have run. Default: 5000. */
  readonly timeoutMs?: number;
}

export type RunScript<Bulk> = (
  script: HubScript,
  keys: readonly string[],
  args: readonly HubArgument[],
  options?: RunOptions,
) => Promise<Result<HubValue<Bulk>, Failure>>;
