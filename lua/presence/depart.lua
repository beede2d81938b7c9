#!lua flags=allow-oom
-- depart: sessions' sockets are gone; who waits or has a seat is away and keeps it until its grace ends.
-- Guarantee:  a session that was taken over departs nobody. Sent again: a player that is away already
--             keeps the end of grace that it has.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     grace_ms   integer    how long they may be away
-- ARGV[6]     count      integer    players that follow
-- ARGV[7..]   player id, generation; for each
-- Returns     {1, '', now_ms, then for each 1 departed | -3 replaced | -4 gone already}
-- Touches     pl, pr:<player>, ip:<instance>, aw, q:<world>:<n>
-- Cost        O(count); at most 100 a call
-- @include prelude
-- @include write_buffer
-- @include presence
local grace_ms, count = tonumber(ARGV[5]), tonumber(ARGV[6])
local players, keys, reply, not_here = {}, {}, {1, '', int(now_ms)}, {}
for i = 1, count do
  players[i] = ARGV[5 + i * 2]
  keys[i] = prefix .. 'pr:' .. players[i]
end
preload(players)
local presences = mget(keys)
for i, player in ipairs(players) do
  local generation, presence = ARGV[6 + i * 2], parse_presence(presences[i])
  local status = CODE_GONE
  if is_older(generation, presence) then
    status = CODE_REPLACED
  elseif presence.state == '' or (presence.state == 'L' and presence.generation == generation) then
    -- Whose presence ran out while Redis was out of reach still has its places, which nobody else will end.
    if presence.state == 'L' then status = 1 end
    not_here[#not_here + 1] = player
    if has_place(player) then
      park(player, int(now_ms + grace_ms))
      redis.call('SET', keys[i], format_presence('A', self, generation), 'PX', int(grace_ms + presence_ttl_ms))
    else
      redis.call('DEL', keys[i])
    end
  end
  -- Whose presence ended while Redis was away may be elsewhere by now, and still in this index.
  if status ~= 1 and presence.instance ~= self then not_here[#not_here + 1] = player end
  reply[#reply + 1] = status
end
write_many('SREM', prefix .. 'ip:' .. self, not_here)
flush()
return finish(reply)
