import type {Failure} from '../../../core/failure/failure.ts';
import type {Result} from '../../../core/result.ts';
import type {RunOutcome} from '../../../sandbox/sandbox.ts';

/** How a command in the background came to its end. */
export interface CommandEnd {
  /** `stopped`: by `stop_run`, or with the session. `failed`: the sandbox broke under it. */
  readonly ended: 'exited' | 'killed' | 'out_of_memory' | 'out_of_time' | 'stopped' | 'failed';
  readonly exitCode?: number;
  readonly signal?: string;
  readonly failure?: Failure;
}

export function commandEnd(ran: Result<RunOutcome>): CommandEnd {
  if (!ran.ok) return {ended: 'failed', failure: ran.error};
  const {exitStatus} = ran.value;
  switch (exitStatus.kind) {
    case 'exited':
      return {ended: 'exited', exitCode: exitStatus.code};
    case 'killed':
      return {
        ended: exitStatus.outOfMemory ? 'out_of_memory' : 'killed',
        exitCode: exitStatus.code,
        signal: exitStatus.signal,
      };
    case 'timeout':
      return {ended: 'out_of_time'};
    case 'cancelled':
      return {ended: 'stopped'};
  }
}
