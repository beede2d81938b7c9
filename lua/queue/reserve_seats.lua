#!lua
-- reserve_seats: give a fill world's oldest live tickets seats in its open rooms, the fullest first, and in new ones.
-- Guarantee:  seat, marker and how long it is held are one step; never more seats than there are. A room id that exists
--             is skipped, and who has a seat waits no longer, so a call sent again seats nobody twice.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     world      id
-- ARGV[6]     revision   integer    of the world's settings
-- ARGV[7]     width      integer    tickets looked at
-- ARGV[8]     terms      hold_ms,accept_ms,cooldown_ms,allocate,seats,seat_hold_ms,at_most,within_ms
-- ARGV[9]     drain_ms   integer    what a silent instance's players get beyond presence_ttl
-- ARGV[10]    limits     queue,worlds,cools_down: see parse_limits
-- ARGV[11]    joins      integer    joins that follow
-- ARGV[12]    count      integer    ids that follow them; with none nothing is matched
-- ARGV[13..]  player id, generation ('' = not a session's), key, fingerprint; for each; then match id, rooms name=uuid;…; for each
-- Returns     {1, own part of what was told, now_ms, more 0|1, matches, players, parked, wait sum ms, opens_at_ms,
--             '', mean wait 'ms,at_ms' or '', the queue's size before, then for each join 1 joined|place|record
--             ('' where this call matched it; it is behind all before it), or 2 repeated|place|position|size|record, -5 already
--             queued|place, -6 in match|match|ends_ms, -13 in proposal|match|ends_ms, -14 cooled down|until_ms, or another
--             code}
-- Touches     pl, pr:<player>, dc:<world>, ins, q:<world>:<n>, aw, m, mx, st, w, ws:<world>, kp, op:<world>, sh, al, an, mr:<world>, af:<world>, pub,
--             i:<instance>
-- Cost        O(width log n + players of the rooms), those at most 200
-- @include match
-- @include worlds
local world, revision, width, terms, drain_ms, limits, joins, count =
  ARGV[5], ARGV[6], tonumber(ARGV[7]), parse_terms(ARGV[8]), tonumber(ARGV[9]), ARGV[10], tonumber(ARGV[11]),
  tonumber(ARGV[12])
-- @include add_to_queue
-- @include scan_queue
-- @include form_match
-- @include rate_limit
-- @include seats
-- @include seat_players
local refused = world_check(world, revision)
if refused ~= 0 then return finish({refused}) end
add_to_queue(13, joins, limits)

-- seat_everybody seats the live, in new rooms as far as there are ids and it is allowed, and every open room was read. It
-- returns how many wait on, and whether they may not have a room yet.
local function seat_everybody(live, ids, allowed)
  local _, more_rooms = read_open_seats(world, 0, math.min(#live, ROOMS_MAX))
  local waiting, held_back = 0, false
  for _, member in ipairs(live) do
    if not seat(member, anybody) then
      local candidate = ids[#formed + 1]
      held_back = held_back or #formed >= allowed and not more_rooms
      if candidate and #formed < allowed and not more_rooms then
        local match = form_match(world, candidate.id, candidate.rooms, {member}, terms)
        rooms_with_seats[#rooms_with_seats + 1] = {id = candidate.id, match = match}
      else
        waiting = waiting + 1
      end
    end
  end
  return waiting, held_back
end

local more, opens_at_ms = 0, closed and ready_at_ms or 0
if count > 0 and not closed then
  local ids = unused_ids(13 + joins * JOIN_ARGS, count)
  local live, full = read_window(width, '0', '0')
  local allowed, next_at_ms = may_form(world, terms)
  local waiting, held_back = 0, false
  if #live > 0 then waiting, held_back = seat_everybody(live, ids, allowed) end
  tell_seated()
  if held_back then
    opens_at_ms = math.max(next_at_ms, now_ms + 100)
  elseif waiting > 0 or full and (#formed > 0 or seats_taken > 0 or parked > 0) then
    more = 1
  end
end
return settle(more, opens_at_ms, '')
