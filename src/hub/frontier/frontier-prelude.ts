/**
 * The frontier of a job, as scripts: whatever two workers could decide differently is one of them, and the only time is
 * that of the engine. Below the job's key:
 *
 * | key | type | holds |
 * |---|---|---|
 * | `n` | hash | settings, state and counters |
 * | `seen` | set | 16 bytes for each address that was ever added |
 * | `q:HOST` | list | what waits: `attempt depth url` |
 * | `hosts` | sorted set | hosts with something that waits and a free place, by when they may be asked |
 * | `nx` | sorted set | when a host may be asked next; past ones are dropped |
 * | `a` | hash | requests of a host that are under way |
 * | `rf` | hash | how often in a row a host asked for a pause |
 * | `sa` | set | hosts that are set aside |
 * | `d` | sorted set | what is tried again later: `host\nattempt depth url` by when |
 * | `l`, `lx` | hash, sorted set | leases: fence → `host\nattempt depth url`, and fence → end |
 */
export const PRELUDE = `
local p = KEYS[1]
local n = p .. ':n'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function engine()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ''
end
local function offer(host, max)
  if redis.call('EXISTS', p .. ':q:' .. host) == 0 then return end
  if redis.call('SISMEMBER', p .. ':sa', host) == 1 then
    redis.call('ZADD', p .. ':hosts', now, host)
    return
  end
  if tonumber(redis.call('HGET', p .. ':a', host) or 0) >= max then return end
  local at = tonumber(redis.call('ZSCORE', p .. ':nx', host) or 0)
  redis.call('ZADD', p .. ':hosts', at > now and at or now, host)
end
local function release(fence)
  local value = redis.call('HGET', p .. ':l', fence)
  if not value then return end
  redis.call('HDEL', p .. ':l', fence)
  redis.call('ZREM', p .. ':lx', fence)
  local host, entry = string.match(value, '^([^\\n]*)\\n(.*)$')
  if redis.call('HINCRBY', p .. ':a', host, -1) <= 0 then redis.call('HDEL', p .. ':a', host) end
  return host, entry
end
`;
