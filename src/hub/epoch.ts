import type {HubScript} from './hub-value.ts';

/** What is known of the engine from `INFO server`: a word of a stranger, cut to what it may be. */
export interface EngineIdentity {
  readonly runId: string;
  readonly version: string;
}

export function readIdentity(info: unknown): EngineIdentity {
  const text = typeof info === 'string' ? info.slice(0, 100_000) : '';
  const versionOf = (name: 'redis' | 'valkey'): string | undefined =>
    new RegExp(`^${name}_version:(\\d{1,5}(?:\\.\\d{1,5}){0,3})\\r?$`, 'im').exec(text)?.[1];
  return {
    runId: /^run_id:([0-9a-z]{1,64})\r?$/im.exec(text)?.[1] ?? 'unknown',
    // Valkey also says the version of Redis whose clients it serves, and says it first.
    version: versionOf('valkey') ?? versionOf('redis') ?? 'unknown',
  };
}

/**
 * Notes which engine answers, before anything else is asked of it. Another one, and one that has lost its data, may
 * have forgotten the last second: from then on every host waits for one gap (see `ENTER`).
 */
export const NOTE_EPOCH: HubScript = {
  name: 'epoch',
  lua: `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if redis.call('HGET', KEYS[1], 'id') == ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'id', ARGV[1], 'at', string.format('%.0f', now))
return 1`,
};
