-- time: the parts of a call that every script has, and the realm's time.
-- A test steers Redis' clock by the third argument; in production it is 0, or below it, and then, taken as positive, the time
-- after which nobody waits for the call any more.
local meta_key = KEYS[1]
local prefix = string.sub(meta_key, 1, -5)
local epoch, self, now_us, presence_ttl_ms = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local late_after_us = -now_us
if now_us <= 0 then
  local t = redis.call('TIME')
  now_us = t[1] * 1000000 + t[2]
end
local now_ms = math.floor(now_us / 1000)

-- A number built by .. loses digits beyond 14. %d cuts off what is no whole number, at half of what %.0f costs.
local format = string.format
local function int(n)
  return format('%d', n)
end
local now_text = int(now_ms)

-- The realm's time is that of Redis, and never runs back. If Redis' clock steps back, since a replica with another clock was
-- promoted, or an administrator set it, the realm's time goes on from where it was: it is ahead of Redis' clock then, and
-- runs a twentieth slower until the clock has caught up. So no deadline lasts longer than its setting says, but for that.
local ahead_us, SLOWER = 0, 20
-- A silence is longer than calls ever rest: Redis was away, or its clock jumped.
local SILENCE_MS = 2000

-- continue_time sets the realm's time, which was touched_ms at the last call, when it was ahead of Redis' by before_us. It
-- returns whether there was a silence since; of time that was ahead a silence is taken off.
local function continue_time(touched_ms, before_us)
  local passed_ms = math.floor((now_us + before_us) / 1000) - touched_ms
  if passed_ms < 0 or passed_ms > SILENCE_MS then
    ahead_us = math.max(0, touched_ms * 1000 - now_us)
  else
    ahead_us = math.max(0, before_us - math.floor(passed_ms * 1000 / SLOWER))
  end
  now_us = now_us + ahead_us
  now_ms = math.floor(now_us / 1000)
  now_text = int(now_ms)
  return passed_ms > SILENCE_MS
end
