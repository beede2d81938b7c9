#!lua
-- find_opponent: put tickets in a world and pair its live ones, the oldest first, each with the oldest that it has not
-- met within the rematch cooldown.
-- Guarantee:  both are taken out of all worlds in the step that writes the match; otherwise as extract_group.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     world      id
-- ARGV[6]     revision   integer    of the world's settings
-- ARGV[7]     after      integer    the place to look behind: 0, or what the last call returned
-- ARGV[8]     width      integer    tickets looked at
-- ARGV[9]     terms      hold_ms,accept_ms,cooldown_ms,allocate,seats,seat_hold_ms,at_most,within_ms
-- ARGV[10]    drain_ms   integer    what a silent instance's players get beyond presence_ttl
-- ARGV[11]    scan       integer    live tickets tried for each
-- ARGV[12]    cooldown_ms  integer  how long the same two do not meet again
-- ARGV[13]    limits     queue,worlds,cools_down: see parse_limits
-- ARGV[14]    joins      integer    joins that follow
-- ARGV[15]    count      integer    ids that follow them; with none nothing is matched
-- ARGV[16..]  player id, generation ('' = not a session's), key, fingerprint; for each; then match id, rooms name=uuid;…; for each
-- Returns     {1, own part of what was told, now_ms, more 0|1, matches, players, parked, wait sum ms, opens_at_ms,
--             next after, mean wait 'ms,at_ms' or '', the queue's size before, then for each join 1 joined|place|record
--             ('' where this call matched it; it is behind all before it), or 2 repeated|place|position|size|record, -5 already
--             queued|place, -6 in match|match|ends_ms, -13 in proposal|match|ends_ms, -14 cooled down|until_ms, or another
--             code}
-- Touches     as extract_group, and rc:<world>,<a>,<b>
-- Cost        O(width (scan + log n)) whatever the queue holds
-- @include match
-- @include worlds
local world, revision, after, width, terms, drain_ms, scan =
  ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8]), parse_terms(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local cooldown_ms, limits, joins, count = tonumber(ARGV[12]), ARGV[13], tonumber(ARGV[14]), tonumber(ARGV[15])
-- @include add_to_queue
-- @include window
-- @include form_match
-- @include throttle
-- @include seats
-- @include fill
local refused = world_check(world, revision)
if refused ~= 0 then return finish({refused}) end
add_to_queue(16, joins, limits)

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
    for _, kept_apart in ipairs(mget(keys)) do
      if kept_apart then return false end
    end
    return true
  end
end

local live, paired = {}, {}

-- opponent is the oldest live ticket behind the i-th that it may meet.
local function opponent(i)
  if cooldown_ms == 0 then
    for j = i + 1, #live do
      if not paired[j] then return j end
    end
    return
  end
  local candidates, keys = {}, {}
  for j = i + 1, #live do
    if #candidates == scan then break end
    if not paired[j] then
      candidates[#candidates + 1] = j
      keys[#keys + 1] = met(live[i].player, live[j].player)
    end
  end
  if #keys == 0 then return end
  for at, kept_apart in ipairs(mget(keys)) do
    if not kept_apart then return candidates[at] end
  end
end

-- keep_apart notes who has met whom by taking a seat.
local function keep_apart()
  for room, members in pairs(seated_in) do
    for _, member in ipairs(members) do
      for _, other in ipairs(room.match.players) do
        if other ~= member.player then redis.call('SET', met(member.player, other), '1', 'PX', cooldown_ms) end
      end
    end
  end
end

-- pair_up forms matches, and returns how many live tickets have none.
local function pair_up(ids, allowed)
  local left, most = 0, math.min(#ids, allowed)
  for i = 1, #live do
    if not paired[i] then
      local j = #formed < most and opponent(i)
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
  return left
end

local more, opens_at_ms, next_after = 0, closed and ready_at_ms or 0, after
if count > 0 and not closed then
  local ids, full, reached = unused_ids(16 + joins * JOIN_ARGS, count), false, after
  live, full, reached = read_window(width, after)
  live = seat_all(world, live, may_sit_with)
  if cooldown_ms > 0 then keep_apart() end
  local allowed, next_at_ms = may_form(world, terms)
  local left = pair_up(ids, allowed)
  tell_seated()
  local held_back = #formed >= allowed and left > 1
  local ran_out = not held_back and #formed == #ids and left > 1
  -- A full window in which nothing could be done is passed over; otherwise it is looked at again.
  next_after = (#formed > 0 or parked > 0 or seats_taken > 0 or ran_out or held_back) and after or reached
  if held_back then
    opens_at_ms = math.max(next_at_ms, now_ms + 100)
  elseif full or ran_out then
    more = 1
  end
end
return settle(more, opens_at_ms, next_after)
