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
-- ARGV[9]     terms      hold_ms,accept_ms,cooldown_ms,allocate,seats,seat_hold_ms,at_most,within_ms
-- ARGV[10]    drain_ms   integer    what a silent instance's players get beyond presence_ttl
-- ARGV[11]    scan       integer    live tickets tried for each
-- ARGV[12]    cooldown_ms  integer  how long the same two do not meet again
-- ARGV[13]    count      integer    ids that follow
-- ARGV[14..]  match id, rooms name=uuid;…; for each
-- Returns     {1, own part of what was told, now_ms, more 0|1, matches, players, parked, wait sum ms, opens_at_ms, next after}
-- Touches     as extract_group, and rc:<world>,<a>,<b>
-- Cost        O(width (scan + log n)) whatever the queue holds
-- @include match
-- @include worlds
local world, revision, after, width, terms, drain_ms = ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8]), parse_terms(ARGV[9]), tonumber(ARGV[10])
local scan, cooldown_ms, count = tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])
-- @include window
-- @include form_match
-- @include throttle
-- @include seats
-- @include fill
local refused = world_check(world, revision)
if refused ~= 0 then return finish({refused}) end
if closed then return finish({1, '', int(now_ms), 0, 0, 0, 0, '0', int(ready_at_ms), after}) end

-- met is the key that keeps two players apart for a while, the same for both orders.
local function met(a, b)
  local first, second = a, b
  if b < a then first, second = b, a end -- not a, b = b, a: the embedded Redis' Lua loses one
  return prefix .. 'rc:' .. world .. ',' .. first .. ',' .. second
end

-- may_sit_with lets a player into a match with nobody that it met lately.
local function may_sit_with(member)
  if cooldown_ms == 0 then return anybody end
  return function(match)
    local keys = {}
    for i, other in ipairs(match.players) do
      keys[i] = met(member.player, other)
    end
    for _, kept_apart in ipairs(redis.call('MGET', unpack(keys))) do
      if kept_apart then return false end
    end
    return true
  end
end

local live, parked, full, reached = read_window(world, width, after)
live = seat_all(world, live, may_sit_with)
for room, members in pairs(cooldown_ms > 0 and seated_in or {}) do
  for _, member in ipairs(members) do
    for _, other in ipairs(room.match.players) do
      if other ~= member.player then redis.call('SET', met(member.player, other), '1', 'PX', cooldown_ms) end
    end
  end
end
local allowed, opens_at_ms = may_form(world, terms)
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
    local j = #formed < math.min(#ids, allowed) and opponent(i)
    if j then
      paired[i], paired[j] = true, true
      local candidate = ids[#formed + 1]
      form_match(world, candidate.id, candidate.rooms, {live[i], live[j]}, terms)
      if cooldown_ms > 0 then redis.call('SET', met(live[i].player, live[j].player), '1', 'PX', cooldown_ms) end
    else
      left = left + 1
    end
  end
end
tell_seated()
flush()
flush_matches()
count_formed(world)
count_throttled(world, terms)
local held_back = #formed >= allowed and left > 1
local ran_out = not held_back and #formed == #ids and left > 1
-- A full window in which nothing could be done is passed over; otherwise it is looked at again.
local next_after = (#formed > 0 or parked > 0 or seats_taken > 0 or ran_out or held_back) and after or reached
local more = not held_back and (full or ran_out) and 1 or 0
return finish({1, tell_all(), int(now_ms), more, #formed, formed_players + seats_taken, parked, int(formed_wait_ms),
  int(held_back and math.max(opens_at_ms, now_ms + 100) or 0), next_after})
