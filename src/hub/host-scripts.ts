// The scripts by which replicas take turns at a host.
import type {HubScript} from './redis-client.ts';

/** How long a host is remembered that nobody asks. Longer than any pause. */
const KEPT_MS = 7_200_000;

/**
 * May a host be asked now? KEYS: the host, its leases, the epoch. ARGV: most at once, gap, length and name of the lease.
 * Answers `{'go'}`, or `{'wait', ms, why}`. Time is the engine's.
 */
export const ENTER: HubScript = {
  name: 'host.enter',
  lua: `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local gap = tonumber(ARGV[2])
local epoch = tonumber(redis.call('HGET', KEYS[3], 'at'))
if not epoch or epoch > now then
  epoch = now
  redis.call('HSET', KEYS[3], 'at', string.format('%.0f', now))
end
local host = redis.call('HMGET', KEYS[1], 'next', 'pause')
local pause = tonumber(host[2]) or 0
if pause > now and pause <= now + ${KEPT_MS} then return {'wait', pause - now, 'pause'} end
local ready = tonumber(host[1]) or 0
if ready > now + ${KEPT_MS} then ready = 0 end
ready = math.max(ready, epoch + gap)
if ready > now then return {'wait', ready - now, 'gap'} end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[1]) then
  local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  return {'wait', math.max(1, math.floor((tonumber(first[2]) or now) - now)), 'busy'}
end
redis.call('HSET', KEYS[1], 'next', string.format('%.0f', now + gap))
redis.call('PEXPIRE', KEYS[1], ${KEPT_MS})
redis.call('ZADD', KEYS[2], string.format('%.0f', now + tonumber(ARGV[3])), ARGV[4])
redis.call('PEXPIRE', KEYS[2], ${KEPT_MS})
return {'go', 0, ''}`,
};

/** KEYS: the host, its leases. ARGV: name of the lease, how long the host wants to be left alone. */
export const LEAVE: HubScript = {
  name: 'host.leave',
  lua: `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREM', KEYS[2], ARGV[1])
local asked = math.min(tonumber(ARGV[2]) or 0, ${KEPT_MS / 2})
if asked > 0 then
  local pause = tonumber(redis.call('HGET', KEYS[1], 'pause')) or 0
  if pause > now + ${KEPT_MS} or pause < now + asked then pause = now + asked end
  redis.call('HSET', KEYS[1], 'pause', string.format('%.0f', pause))
  redis.call('PEXPIRE', KEYS[1], ${KEPT_MS})
end
return 1`,
};

/** KEYS: the fleet. ARGV: a replica, how long it is remembered. Answers how many there are. */
export const BEAT: HubScript = {
  name: 'fleet.beat',
  lua: `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if tonumber(ARGV[2]) > 0 then redis.call('ZADD', KEYS[1], now, ARGV[1]) else redis.call('ZREM', KEYS[1], ARGV[1]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', now - math.max(20000, tonumber(ARGV[2]))))
redis.call('PEXPIRE', KEYS[1], 60000)
return redis.call('ZCARD', KEYS[1])`,
};
