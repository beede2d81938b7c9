#!lua flags=allow-oom
-- heartbeat: a player without a socket says that it is there; it is gone a presence_ttl later.
-- Guarantee:  never overwrites the presence of a live socket, nor of one that could not speak for a while. Sent again:
--             extends again.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     player     id
-- Returns     {1, '', now_ms, as-of place, {1, generation, record, match, notes, ranks}}
-- Touches     pl, pr:<player>, ip:<instance>, ins, aw, q:<world>:<n>, w, no:<player>, m, st, kp, sh
-- Cost        O(tickets of the player + instances)
-- @include prelude
-- @include write_buffer
-- @include notify
-- @include stream
-- @include end_ticket
-- @include worlds
-- @include requeue
-- @include player_state
local player = ARGV[5]
local key = prefix .. 'pr:' .. player
local presence = parse_presence(redis.call('GET', key))

-- has_socket tells of a player without presence whether an instance holds its socket.
local function has_socket()
  for _, instance in ipairs(redis.call('ZRANGE', prefix .. 'ins', 0, -1)) do
    if redis.call('SISMEMBER', prefix .. 'ip:' .. instance, player) == 1 then return true end
  end
end

-- While it is calm, who has a socket may just not have been refreshed: the sweep judges it when the calm is over.
local by_socket = presence.state == 'L' and (calm or is_live(presence)) or presence.state == '' and calm and has_socket()
if not by_socket then
  if presence.state ~= 'H' or presence.epoch ~= epoch then
    if presence.instance ~= '' then redis.call('SREM', prefix .. 'ip:' .. presence.instance, player) end
    presence = parse_presence(format_presence('H', '', next_place()))
  end
  redis.call('SET', key, format_presence('H', '', presence.generation), 'PX', 2 * presence_ttl_ms) -- the index decides
  put_back(player, presence)
  away[player] = int(now_ms + presence_ttl_ms)
end
flush()
return finish({1, '', int(now_ms), int(last), {1, presence.generation, unpack(describe(player))}})
