import type {ProgressToken, ServerContext} from '@modelcontextprotocol/server';
import type {Clock} from '../core/clock.ts';

/** Clients give a request up after 60 s without a word. */
const HEARTBEAT_MS = 10_000;
/** A tool may report for every file; a client need not hear it that often. */
const LEAST_PAUSE_MS = 100;

export interface ProgressReport {
  readonly say: (message: string) => void;
  /** Nothing is sent afterwards. */
  readonly stop: () => void;
}

/** Progress notifications with a heartbeat, where the client asked for them with a `progressToken`. */
export function reportProgress(tool: string, {mcpReq}: ServerContext, clock: Clock): ProgressReport {
  const progressToken: ProgressToken | undefined = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return {say: () => {}, stop: () => {}};

  const startedAt = clock.monotonic();
  let count = 0;
  let lastSaidAt = Number.NEGATIVE_INFINITY;
  let latest = `${tool} is running`;
  let cancelTimer = clock.after(HEARTBEAT_MS, beat);
  let stopped = false;

  return {
    say: message => {
      latest = message;
      if (!stopped && clock.monotonic() - lastSaidAt >= LEAST_PAUSE_MS) send(message);
    },
    stop: () => {
      stopped = true;
      cancelTimer();
    },
  };

  function beat(): void {
    const seconds = Math.round((clock.monotonic() - startedAt) / 1000);
    send(`${latest} (${seconds} s)`);
    cancelTimer = clock.after(HEARTBEAT_MS, beat);
  }

  function send(message: string): void {
    lastSaidAt = clock.monotonic();
    count += 1;
    const params = {progressToken, progress: count, message};
    // A client that has gone is noticed by the signal of its request.
    mcpReq.notify({method: 'notifications/progress', params}).catch(() => {});
  }
}
