// The scripts by which replicas share a body: one makes it, the others wait.
import type {HubScript} from './redis-client.ts';

/**
 * A fence is the engine's time in microseconds, and more than the one before: it grows in one shard, and after a loss
 * of data too, where a counter would begin anew below the fences that are still held. One that is ahead of the time by
 * more than a minute is none of ours.
 */
const TIME = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local micro = t[1] * 1000000 + t[2]
local plausible = micro + 60000000
`;

/**
 * What there is under a name, or the turn to make it. KEYS: body, turn, last use, last fence. ARGV: name, owner,
 * length of a turn, a fence that the body must be above, most bytes, whether a turn is wanted in any case.
 */
export const OBTAIN: HubScript = {
  name: 'body.obtain',
  lua: `${TIME}
if ARGV[6] ~= '1' then
  local fence = tonumber(redis.call('HGET', KEYS[1], 'f'))
  if fence and fence > tonumber(ARGV[4]) then
    local size = redis.call('HSTRLEN', KEYS[1], 'b')
    local left = redis.call('PTTL', KEYS[1])
    if size > 0 and size <= tonumber(ARGV[5]) and left > 0 then
      redis.call('ZADD', KEYS[3], 'XX', now, ARGV[1])
      return {'found', redis.call('HGET', KEYS[1], 'b'), string.format('%.0f', fence), left}
    end
  end
  local held = redis.call('PTTL', KEYS[2])
  if held > 0 then return {'follow', held} end
end
local last = tonumber(redis.call('GET', KEYS[4])) or 0
local fence = micro
if last >= micro and last <= plausible then fence = last + 1 end
local text = string.format('%.0f', fence)
redis.call('SET', KEYS[4], text)
if ARGV[6] ~= '1' then redis.call('SET', KEYS[2], ARGV[2] .. ':' .. text, 'PX', ARGV[3]) end
return {'turn', text}`,
};

/** KEYS: turn. ARGV: owner and fence, length of a turn. */
export const RENEW: HubScript = {
  name: 'body.renew',
  lua: `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
};

/** KEYS: turn. ARGV: owner and fence, channel, message for those who wait. */
export const END: HubScript = {
  name: 'body.end',
  lua: `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1`,
};

/** What an entry takes in the engine beside its body, about. */
const BESIDE = 512;
/** Entries that one call removes: no script may hold up the engine. */
const MOST_REMOVED = 64;

/**
 * Keeps a body, unless one with a higher fence is there or no room can be made. KEYS: body, last use, sizes, sum.
 * ARGV: name, fence, time to live, most bytes of the shard, body, prefix of the bodies' keys (all of one slot).
 */
export const PUT: HubScript = {
  name: 'body.put',
  lua: `${TIME}
local name, fence, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[4])
local stored = tonumber(redis.call('HGET', KEYS[1], 'f'))
if stored and stored > fence and stored <= plausible then return 0 end
local size = #ARGV[5] + ${BESIDE}
if size > limit then return 0 end
local sum = tonumber(redis.call('GET', KEYS[4])) or 0
sum = math.max(0, sum - (tonumber(redis.call('HGET', KEYS[3], name)) or 0))
redis.call('ZREM', KEYS[2], name)
redis.call('HDEL', KEYS[3], name)
redis.call('DEL', KEYS[1])
local removed = 0
while sum + size > limit and removed < ${MOST_REMOVED} do
  local oldest = redis.call('ZPOPMIN', KEYS[2])[1]
  if not oldest then sum = 0 break end
  sum = math.max(0, sum - (tonumber(redis.call('HGET', KEYS[3], oldest)) or 0))
  redis.call('HDEL', KEYS[3], oldest)
  redis.call('DEL', ARGV[6] .. oldest)
  removed = removed + 1
end
local fits = sum + size <= limit
if fits then
  redis.call('HSET', KEYS[1], 'b', ARGV[5], 'f', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  redis.call('ZADD', KEYS[2], now, name)
  redis.call('HSET', KEYS[3], name, size)
  sum = sum + size
end
redis.call('SET', KEYS[4], string.format('%.0f', sum))
return fits and 1 or 0`,
};
