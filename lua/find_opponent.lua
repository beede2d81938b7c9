#!lua
-- find_opponent: pair a world's live tickets, the oldest first, each with the oldest that it has not met
-- within the rematch cooldown.
-- Guarantee:  both are taken out of all worlds in the step that writes the match; otherwise as extract_group.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 = use redis TIME
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     world      id
-- ARGV[6]     revision   integer    of the world's settings
-- ARGV[7]     after      integer    the place to look behind: 0, or what the last call returned
-- ARGV[8]     width      integer    tickets looked at
-- ARGV[9]     hold_ms    integer    how long the match is kept for its players
-- ARGV[10]    drain_ms   integer    what a silent instance's players get beyond presence_ttl
-- ARGV[11]    scan       integer    live tickets tried for each
-- ARGV[12]    cooldown_ms  integer  how long the same two do not meet again
-- ARGV[13]    count      integer    ids that follow
-- ARGV[14..]  match id, rooms name=uuid;…; for each
-- Returns     {1, own part of what was told, now_ms, more 0|1, matches, players, parked, wait sum ms, opens_at_ms, next after}
-- Touches     as extract_group, and rc:<world>,<a>,<b>
-- Cost        O(width (scan + log n)) whatever the queue holds
-- @include prelude
-- @include writes
-- @include tell
-- @include match_record
-- @include worlds
local world, revision, after, width, hold_ms, drain_ms = ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local scan, cooldown_ms, count = tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])
-- @include window
-- @include form_match
local refused = world_check(world, revision)
if refused ~= 0 then return finish({refused}) end
if closed then return finish({1, '', int(now_ms), 0, 0, 0, 0, '0', int(ready_at_ms), after}) end

-- met is the key that keeps two players apart for a while, the same for both orders.
local function met(a, b)
  local first, second = a, b
  if b < a then first, second = b, a end -- not a, b = b, a: the embedded Redis' Lua loses one
  return prefix .. 'rc:' .. world .. ',' .. first .. ',' .. second
end

local live, parked, full, reached = read_window(world, width, after)
local paired = {}

-- opponent is the oldest live ticket behind the i-th that it may meet.
local function opponent(i)
  local candidates, keys = {}, {}
  for j = i + 1, #live do
    if #candidates == scan then break end
    if cooldown_ms == 0 and not paired[j] then return j end
    if not paired[j] then
      candidates[#candidates + 1] = j
      keys[#keys + 1] = met(live[i].player, live[j].player)
    end
  end
  if #keys == 0 then return end
  for at, kept_apart in ipairs(redis.call('MGET', unpack(keys))) do
    if not kept_apart then return candidates[at] end
  end
end

local ids, left = unused_ids(14, count), 0
for i = 1, #live do
  if not paired[i] then
    local j = #formed < #ids and opponent(i)
    if j then
      paired[i], paired[j] = true, true
      local candidate = ids[#formed + 1]
      form_match(world, candidate.id, candidate.rooms, {live[i], live[j]}, hold_ms)
      if cooldown_ms > 0 then redis.call('SET', met(live[i].player, live[j].player), '1', 'PX', cooldown_ms) end
    else
      left = left + 1
    end
  end
end
flush()
flush_formed(world)
local ran_out = #formed == #ids and left > 1
-- A full window in which nothing could be done is passed over; otherwise it is looked at again.
local next_after = (#formed > 0 or parked > 0 or ran_out) and after or reached
local more = (full or ran_out) and 1 or 0
return finish({1, tell_all(), int(now_ms), more, #formed, formed_players, parked, int(formed_wait_ms), '0', next_after})
