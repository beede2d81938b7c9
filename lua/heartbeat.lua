#!lua flags=allow-oom
-- heartbeat: a player without a socket says that it is there; it is gone a presence_ttl later.
-- Guarantee:  never overwrites the presence of a live socket. Sent again: extends again.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 = use redis TIME
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     player     id
-- Returns     {1, '', now_ms, as-of place, {1, generation, record, match, notes, ranks}}
-- Touches     pl, pr:<player>, ip:<instance>, aw, q:<world>:<n>, w, no:<player>, m, st, kp, sh
-- Cost        O(tickets of the player)
-- @include prelude
-- @include writes
-- @include tell
-- @include stream
-- @include end_ticket
-- @include worlds
-- @include put_back
-- @include describe
local player = ARGV[5]
local key = prefix .. 'pr:' .. player
local presence = parse_presence(redis.call('GET', key))
if not (presence.state == 'L' and is_live(presence)) then
  if presence.state ~= 'H' or presence.epoch ~= epoch then
    if presence.instance ~= '' then redis.call('SREM', prefix .. 'ip:' .. presence.instance, player) end
    presence = parse_presence(format_presence('H', '', next_place()))
  end
  redis.call('SET', key, format_presence('H', '', presence.generation), 'PX', presence_ttl_ms)
  put_back(player, presence)
  away[player] = int(now_ms + presence_ttl_ms)
end
flush()
return finish({1, '', int(now_ms), int(last), {1, presence.generation, unpack(describe(player))}})
