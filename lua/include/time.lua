-- time: the parts of a call that every script has, and Redis' clock.
-- A test steers the clock by the third argument; in production it is 0, or below it, and then, taken as positive, the time
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
