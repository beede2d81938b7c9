#!lua
-- extract_group: put tickets in a world and form matches of its oldest live ones, as many as there are ids for; open
-- seats come first.
-- Guarantee:  a ticket's queue entry and record are written together; taking out of all worlds, the match, each
--             player's record, the stream entry and what is told are one step. A repeated join with the same key queues
--             nothing, and an id that exists is skipped, so a call sent again does nothing twice.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     world      id
-- ARGV[6]     revision   integer    of the world's settings
-- ARGV[7]     size       integer    players of a match
-- ARGV[8]     width      integer    tickets looked at, at least size
-- ARGV[9]     terms      hold_ms,accept_ms,cooldown_ms,allocate,seats,seat_hold_ms,at_most,within_ms
-- ARGV[10]    drain_ms   integer    what a silent instance's players get beyond presence_ttl
-- ARGV[11]    limits     queue,worlds,cools_down: see parse_limits
-- ARGV[12]    joins      integer    joins that follow
-- ARGV[13]    count      integer    ids that follow them; with none nothing is matched
-- ARGV[14..]  player id, generation ('' = not a session's), key, fingerprint; for each; then match id, rooms name=uuid;…; for each
-- Returns     {1, own part of what was told, now_ms, more 0|1, matches, players, parked, wait sum ms, opens_at_ms,
--             '', mean wait 'ms,at_ms' or '', the queue's size before, then for each join 1 joined|place|record
--             ('' where this call matched it; it is behind all before it), or 2 repeated|place|position|size|record, -5 already
--             queued|place, -6 in match|match|ends_ms, -13 in proposal|match|ends_ms, -14 cooled down|until_ms, or another
--             code}
-- Touches     pl, pr:<player>, dc:<world>, ins, q:<world>:<n>, aw, m, mx, st, w, ws:<world>, kp, op:<world>, sh, al, an, mr:<world>, af:<world>, pub,
--             i:<instance>
-- Cost        O(width log n) whatever the queue holds
-- @include match
-- @include worlds
local world, revision, size, width, terms, drain_ms, limits, joins, count =
  ARGV[5], ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8]), parse_terms(ARGV[9]), tonumber(ARGV[10]), ARGV[11],
  tonumber(ARGV[12]), tonumber(ARGV[13])
-- @include add_to_queue
-- @include scan_queue
-- @include form_match
-- @include rate_limit
-- @include seats
-- @include seat_players
local refused = world_check(world, revision)
if refused ~= 0 then return finish({refused}) end
add_to_queue(14, joins, limits)
local more, opens_at_ms = 0, closed and ready_at_ms or 0
if count > 0 and not closed then
  local ids = unused_ids(14 + joins * JOIN_ARGS, count)
  local live, full = read_window(width, '0', '0')
  local more_rooms, _
  live, _, more_rooms = seat_all(world, live, 0, anybody)
  local allowed, next_at_ms = may_form(world, terms)
  local taken = 0
  for _, candidate in ipairs(more_rooms and {} or ids) do
    if #live - taken < size or #formed >= allowed then break end
    form_match(world, candidate.id, candidate.rooms, {unpack(live, taken + 1, taken + size)}, terms)
    taken = taken + size
  end
  tell_seated()
  -- Rooms that were not read come before new matches. Behind a full window of which something was taken or parked there
  -- may be more tickets, and so there may be if the ids ran out.
  local enough = #live - taken >= size
  if more_rooms then
    more = 1
  elseif enough and #formed >= allowed then
    opens_at_ms = math.max(next_at_ms, now_ms + 100)
  elseif enough or full and (taken > 0 or parked > 0 or seats_taken > 0) then
    more = 1
  end
end
return settle(more, opens_at_ms, '')
