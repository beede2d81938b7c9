#!lua flags=allow-oom
-- refresh: extend the presence of sessions that gave a sign of life.
-- Guarantee:  compare and extend, never a blind SET: a session that was taken over extends nothing.
--             Sent again: extends again.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     count      integer    players that follow
-- ARGV[6..]   player id, generation; for each
-- Returns     {1, '', now_ms, then for each 1 extended | -3 replaced | -4 gone: it must arrive again}
-- Touches     pr:<player>
-- Cost        O(count); at most 500 a call
-- @include prelude
-- @include presence
local count = tonumber(ARGV[5])
local keys, reply = {}, {1, '', int(now_ms)}
for i = 1, count do
  keys[i] = prefix .. 'pr:' .. ARGV[4 + i * 2]
end
local presences = mget(keys)
for i = 1, count do
  local generation, presence = ARGV[5 + i * 2], parse_presence(presences[i])
  local status = CODE_GONE
  if is_older(generation, presence) then
    status = CODE_REPLACED
  elseif presence.state == 'L' and presence.epoch == epoch and presence.generation == generation and presence.instance == self then
    redis.call('PEXPIRE', keys[i], presence_ttl_ms)
    status = 1
  end
  reply[#reply + 1] = status
end
return finish(reply)
