#!lua flags=allow-oom
-- arrive: players are there, by a socket of this instance: a new session, or one whose lease lapsed.
-- Guarantee:  a new session takes a generation above all others and takes over whom it names, or who does not live any
--             more; of another live one it is told, and nothing is changed. One that arrives again does not get past a
--             newer one. An away player's tickets are back at their places. Sent again: a new session takes one more
--             generation, which only it can know.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     count      integer    players that follow
-- ARGV[6..]   player id, generation (0 = a new session), over (up to which generation it may take over); for each
-- Returns     {1, own part of what was told, now_ms, as-of place, then for each
--             {1, generation, record, match, notes, ranks} | {-3} replaced | {-16, generation} another has it}
-- Touches     pl, pr:<player>, ip:<instance>, ins, aw, q:<world>:<n>, w, no:<player>, m, st, kp, sh, pub, i:<instance>
-- Cost        O(count); at most 100 a call
-- @include prelude
-- @include write_buffer
-- @include notify
-- @include stream
-- @include end_ticket
-- @include worlds
-- @include requeue
-- @include player_state
local count = tonumber(ARGV[5])
local players, generations, over, keys, replies = {}, {}, {}, {}, {}
local NOBODY = parse_presence(nil)
for i = 1, count do
  players[i], generations[i], over[i] = unpack(ARGV, 3 + i * 3, 5 + i * 3)
  keys[i] = prefix .. 'pr:' .. players[i]
end
preload(players)
local presences = mget(keys)
local here, seen = {}, {}

for i, player in ipairs(players) do
  local before = seen[player] or parse_presence(presences[i])
  if generations[i] ~= '0' and is_older(generations[i], before) then
    replies[i] = {CODE_REPLACED}
    if before.instance ~= self then redis.call('SREM', prefix .. 'ip:' .. self, player) end
  elseif generations[i] == '0' and before.state == 'L' and is_live(before) and tonumber(before.generation) > tonumber(over[i]) then
    replies[i] = {CODE_TAKEN, before.generation}
  else
    local generation = generations[i] ~= '0' and generations[i] or next_place()
    if before.state == 'L' and before.generation ~= generation then
      tell(before.instance, 'R ' .. player .. ' ' .. generation)
    end
    if before.instance ~= '' and before.instance ~= self then
      redis.call('SREM', prefix .. 'ip:' .. before.instance, player)
    end
    local text = format_presence('L', self, generation)
    redis.call('SET', keys[i], text, 'PX', presence_ttl_ms)
    seen[player] = parse_presence(text)
    here[#here + 1] = player
    put_back(player, NOBODY) -- what ended is in the reply
    replies[i] = {1, generation}
  end
end
if #here > 0 then
  write_many('SADD', prefix .. 'ip:' .. self, here)
  -- Without a lease it counts as silent, so that the sweep finds whom it holds should it end before it has one.
  redis.call('ZADD', prefix .. 'ins', 'NX', int(now_ms), self)
end
flush()
local as_of = int(last)
for i, player in ipairs(players) do
  if replies[i][1] == 1 then
    for _, part in ipairs(describe(player)) do
      table.insert(replies[i], part)
    end
  end
end
return finish(append({1, tell_all(), int(now_ms), as_of}, replies))
