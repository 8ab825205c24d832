// The scripts of the queue of a crawl: add addresses, lease them, finish them, and say how the job stands.
import type {HubScript} from './connection.ts';

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
const PRELUDE = `
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

/** Adds addresses that were not seen: id, host and entry of each. Stops where the job is full. */
export const ADD: HubScript = {
  name: 'frontier-add',
  lua: `${PRELUDE}
local job = redis.call('HMGET', n, 'state', 'epoch', 'max', 'most', 'pending')
if not job[1] or job[2] ~= ARGV[1] then return {'gone', 0, 0, 0} end
if job[1] == 'cancelled' then return {'cancelled', 0, 0, 0} end
local max, room = tonumber(job[3]), tonumber(job[4]) - tonumber(job[5] or 0)
local seen, queues, order = p .. ':seen', {}, {}
local added, known, read, answer = 0, 0, 0, 'ok'
for at = 2, #ARGV, 3 do
  if added >= room and redis.call('SISMEMBER', seen, ARGV[at]) == 0 then
    answer = 'full'
    break
  end
  read = read + 1
  if redis.call('SADD', seen, ARGV[at]) == 0 then
    known = known + 1
  else
    added = added + 1
    local host = ARGV[at + 1]
    local queue = queues[host]
    if not queue then
      queue = {}
      queues[host] = queue
      order[#order + 1] = host
    end
    queue[#queue + 1] = ARGV[at + 2]
  end
end
for _, host in ipairs(order) do
  local queue = queues[host]
  if redis.call('RPUSH', p .. ':q:' .. host, unpack(queue)) == #queue then offer(host, max) end
end
if added > 0 then
  redis.call('HINCRBY', n, 'pending', added)
  redis.call('HINCRBY', n, 'added', added)
end
return {answer, added, known, read}
`,
};

/**
 * First takes back leases that have ended and offers again what is due; then one address each of hosts that may be
 * asked now. Answers the state, the time until there may be more, the life of the job, the engine's time and the terms
 * of the job; then fence, host, entry and whether its host is set aside of each address.
 */
export const TAKE: HubScript = {
  name: 'frontier-take',
  lua: `${PRELUDE}
local job = redis.call('HMGET', n, 'state', 'epoch', 'gap', 'max', 'lease', 'run', 'hold', 'listed', 'pending')
if not job[1] then return {'gone', 1000} end
local terms = redis.call('HMGET', n, 'lease', 'depth', 'tries', 'site')
local function answer(state, wait)
  return {state, wait, job[2], now, tonumber(terms[1]), tonumber(terms[2]), tonumber(terms[3]), tonumber(terms[4])}
end
if job[1] == 'cancelled' then return answer('cancelled', 0) end
local gap, max, lease = tonumber(job[3]), tonumber(job[4]), tonumber(job[5])
local before = tonumber(job[9] or 0)
local pending = before
for _, fence in ipairs(redis.call('ZRANGEBYSCORE', p .. ':lx', '-inf', now, 'LIMIT', 0, 50)) do
  local host, entry = release(fence)
  if host then
    local attempt, rest = string.match(entry, '^(%d+)( .*)$')
    redis.call('LPUSH', p .. ':q:' .. host, (attempt + 1) .. rest)
    -- Its request may have gone out just before the end.
    if gap > 0 then redis.call('ZADD', p .. ':nx', 'GT', now + gap, host) end
    offer(host, max)
    pending = pending + 1
    redis.call('HINCRBY', n, 'expired', 1)
  end
end
for _, value in ipairs(redis.call('ZRANGEBYSCORE', p .. ':d', '-inf', now, 'LIMIT', 0, 50)) do
  local host, entry = string.match(value, '^([^\\n]*)\\n(.*)$')
  redis.call('ZREM', p .. ':d', value)
  redis.call('RPUSH', p .. ':q:' .. host, entry)
  offer(host, max)
  pending = pending + 1
end
if pending ~= before then redis.call('HSET', n, 'pending', pending) end
if job[1] ~= 'running' then return answer(job[1], 1000) end
-- Another engine, or one that was started again: it may have lost when hosts were asked last.
local run = engine()
local hold = tonumber(job[7] or 0)
if job[6] ~= run then
  hold = now + math.max(gap, 1000)
  redis.call('HSET', n, 'run', run, 'hold', hold)
end
if hold > now then return answer('running', hold - now) end
redis.call('ZREMRANGEBYSCORE', p .. ':nx', '-inf', now)
local taken = answer('running', 0)
local wanted = tonumber(ARGV[1])
local fence = 0
local hosts = redis.call('ZRANGEBYSCORE', p .. ':hosts', '-inf', now, 'LIMIT', 0, wanted)
if #hosts > 0 then fence = redis.call('HINCRBY', n, 'fence', #hosts) - #hosts end
local got = 0
for _, host in ipairs(hosts) do
  local queue = p .. ':q:' .. host
  local entry = redis.call('LPOP', queue)
  if entry then
    got = got + 1
    fence = fence + 1
    local aside = redis.call('SISMEMBER', p .. ':sa', host)
    local active = redis.call('HINCRBY', p .. ':a', host, 1)
    redis.call('HSET', p .. ':l', fence, host .. '\\n' .. entry)
    redis.call('ZADD', p .. ':lx', now + lease, fence)
    local next = now
    if aside == 0 and gap > 0 then
      next = now + gap
      redis.call('ZADD', p .. ':nx', 'GT', next, host)
    end
    if (aside == 0 and active >= max) or redis.call('EXISTS', queue) == 0 then
      redis.call('ZREM', p .. ':hosts', host)
    else
      redis.call('ZADD', p .. ':hosts', next, host)
    end
    taken[#taken + 1] = fence
    taken[#taken + 1] = host
    taken[#taken + 1] = entry
    taken[#taken + 1] = aside
  else
    redis.call('ZREM', p .. ':hosts', host)
  end
end
if got > 0 then redis.call('HINCRBY', n, 'pending', -got) end
if got == 0 and pending == 0 and job[8] == '1' and redis.call('EXISTS', p .. ':l', p .. ':d') == 0 then
  return answer('finished', 0)
end
if got < wanted then
  local soonest = now + 1000
  for _, key in ipairs({':hosts', ':d', ':lx'}) do
    local first = redis.call('ZRANGE', p .. key, 0, 0, 'WITHSCORES')
    if first[2] and tonumber(first[2]) < soonest then soonest = tonumber(first[2]) end
  end
  taken[2] = soonest > now and soonest - now or 0
end
return taken
`,
};

/**
 * What became of addresses: fence, outcome, failure code, pause of the host and delay of the next try, both in
 * milliseconds. Outcomes: `done`, `failed`, `again` (a later try), `back` (nobody tried), `aside` (failed, and the host is
 * given up). Answers 1 for each fence that held, 0 for each that came too late.
 */
export const FINISH: HubScript = {
  name: 'frontier-finish',
  lua: `${PRELUDE}
local job = redis.call('HMGET', n, 'epoch', 'gap', 'max', 'state')
local held, pending, done, failed = {}, 0, 0, 0
local mine = job[1] == ARGV[1] and job[4] ~= 'cancelled'
local gap, max = tonumber(job[2] or 0), tonumber(job[3] or 1)
for at = 2, #ARGV, 5 do
  local outcome, code = ARGV[at + 1], ARGV[at + 2]
  local pause, delay = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  local host, entry
  if mine then host, entry = release(ARGV[at]) end
  held[#held + 1] = host and 1 or 0
  if host then
    local asked, aside = pause, outcome == 'aside'
    local next = tonumber(redis.call('ZSCORE', p .. ':nx', host) or 0)
    -- One at a time: the gap is between the end of one request and the start of the next, so that no delay on the way
    -- brings two of them closer.
    if max == 1 and gap > asked then asked = gap end
    if asked > 0 then redis.call('ZADD', p .. ':nx', 'GT', now + asked, host) end
    if pause > 0 then
      -- Refusals of what was under way together count once, and who was not asked has refused nothing.
      if outcome ~= 'back' and next <= now + gap and redis.call('HINCRBY', p .. ':rf', host, 1) >= 6 then aside = true end
    elseif outcome == 'done' then
      redis.call('HDEL', p .. ':rf', host)
    end
    if code ~= '' then redis.call('HINCRBY', n, 'e:' .. code, 1) end
    if outcome == 'again' then
      local attempt, rest = string.match(entry, '^(%d+)( .*)$')
      redis.call('ZADD', p .. ':d', now + delay, host .. '\\n' .. (attempt + 1) .. rest)
    elseif outcome == 'back' then
      redis.call('LPUSH', p .. ':q:' .. host, entry)
      pending = pending + 1
    elseif outcome == 'done' then
      done = done + 1
    else
      failed = failed + 1
    end
    if aside then redis.call('SADD', p .. ':sa', host) end
    offer(host, max)
  end
end
if pending > 0 then redis.call('HINCRBY', n, 'pending', pending) end
if done > 0 then redis.call('HINCRBY', n, 'done', done) end
if failed > 0 then redis.call('HINCRBY', n, 'failed', failed) end
return held
`,
};

/** Makes the job unless it is there, and notes that a list is being read. Answers its state. */
export const START: HubScript = {
  name: 'frontier-start',
  lua: `${PRELUDE}
local state = redis.call('HGET', n, 'state')
if state == 'cancelled' then
  if redis.call('EXISTS', p .. ':hosts', p .. ':seen') > 0 then return {'cancelled'} end
  redis.call('DEL', n)
  state = false
end
local made = 0
if not state then
  local gap, pause = tonumber(ARGV[3]), 1000
  -- Somebody may have asked these hosts a moment ago: the engine may have lost this very job.
  redis.call('HSET', n, 'state', 'running', 'epoch', ARGV[1], 'gap', gap, 'max', ARGV[4], 'lease', ARGV[5],
    'most', ARGV[6], 'depth', ARGV[7], 'tries', ARGV[8], 'site', ARGV[9], 'started', now, 'hold', now + math.max(gap, pause),
    'run', engine())
  state = 'running'
  made = 1
end
redis.call('PERSIST', n)
redis.call('HSET', n, 'listed', 0, 'lister', ARGV[2])
return {state, redis.call('HGET', n, 'epoch'), made}
`,
};

/** The list was read to its end. The one who began last says so. */
export const LISTED: HubScript = {
  name: 'frontier-listed',
  lua: `${PRELUDE}
if redis.call('HGET', n, 'lister') ~= ARGV[1] then return 0 end
redis.call('HSET', n, 'listed', 1)
return 1
`,
};

/** `paused` or `running`. Answers the state that holds now. */
export const SET_STATE: HubScript = {
  name: 'frontier-state',
  lua: `${PRELUDE}
local state = redis.call('HGET', n, 'state')
if not state then return 'gone' end
if state == 'cancelled' then return state end
redis.call('HSET', n, 'state', ARGV[1])
return ARGV[1]
`,
};

/** Cancels the job and frees some of what it holds; answers whether more is left. Its counters are kept for a day. */
export const CANCEL: HubScript = {
  name: 'frontier-cancel',
  lua: `${PRELUDE}
if redis.call('EXISTS', n) == 0 then return {'gone', 0} end
redis.call('HSET', n, 'state', 'cancelled', 'pending', 0)
redis.call('PEXPIRE', n, 86400000)
local hosts = redis.call('ZRANGE', p .. ':hosts', 0, 499)
if #hosts == 0 then hosts = redis.call('HKEYS', p .. ':a') end
for _, host in ipairs(hosts) do
  redis.call('UNLINK', p .. ':q:' .. host)
  redis.call('ZREM', p .. ':hosts', host)
  redis.call('HDEL', p .. ':a', host)
end
if #hosts > 0 then return {'cancelled', 1} end
for _, key in ipairs({':seen', ':nx', ':rf', ':sa', ':d', ':l', ':lx'}) do redis.call('UNLINK', p .. key) end
return {'cancelled', 0}
`,
};

/** Everything that may be shown of a job. */
export const STATUS: HubScript = {
  name: 'frontier-status',
  lua: `${PRELUDE}
if redis.call('EXISTS', n) == 0 then return {} end
local waiting = redis.call('ZCOUNT', p .. ':hosts', '(' .. now, '+inf')
local ready = redis.call('ZCOUNT', p .. ':hosts', '-inf', now)
return {now, redis.call('HGETALL', n), redis.call('ZCARD', p .. ':lx'), redis.call('ZCARD', p .. ':d'), ready, waiting,
  redis.call('HLEN', p .. ':a'), redis.call('SCARD', p .. ':sa')}
`,
};
