import type {HubScript} from '../connection.ts';
import {PRELUDE} from './frontier-prelude.ts';

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
