#!lua flags=allow-oom
-- sweep: what time changes: silent instances' players are parked, those away too long are gone, matches, seats and
-- tickets expire, closing worlds are emptied, records that need not be kept are removed.
-- Guarantee:  each kind from an index ordered by time, bounded; nothing ends by time while it is calm. It does
--             nothing if any instance did it within the interval. Sent again: goes on where it stopped.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     interval_ms  integer  how often it is worth doing
-- ARGV[6]     limit      integer    the most of each kind
-- ARGV[7]     drain_ms   integer    what a silent instance's players get beyond presence_ttl
-- ARGV[8]     count      integer    worlds that follow
-- ARGV[9..]   world id, ticket_ttl_ms, tick_ms, size; for each
-- Returns     {1, own part of what was told, now_ms, more 0|1, parked, gone, matches expired, tickets expired,
--             seats released, worlds that are due for a look, joined by ;, worlds whose players are back, likewise}
--             | {0} somebody else did it
-- Touches     pl, pr:<player>, ins, pub, ip:<instance>, aw, q:<world>:<n>, m, mx, st, no:<player>, kp, w, wc, wt, ws:<world>,
--             op:<world>, sh, al, an, dc:<world>, i:<instance>
-- Cost        O(limit log n)
-- @include ending
-- @include seats
local interval_ms, limit, drain_ms, world_count = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local swept_ms, went_on = string.match(redis.call('HGET', meta_key, 'swept') or '0|0', '^(%d+)|(%d)$')
if went_on == '0' and math.abs(now_ms - tonumber(swept_ms)) < interval_ms then return finish({0}) end
local more, parked, gone, matches_expired, tickets_expired, seats_released = 0, 0, 0, 0, 0, 0
-- @include free_lost
-- @include sweep_seats
-- @include sweep_presence
-- @include sweep_deadlines
if not calm then
  park_silent()
  evict_gone()
  expire_matches()
  expire_seats()
end
local due = {}
for i = 0, world_count - 1 do
  local world, ttl_ms, tick_ms, size = ARGV[9 + i * 4], tonumber(ARGV[10 + i * 4]), tonumber(ARGV[11 + i * 4]), tonumber(ARGV[12 + i * 4])
  if not calm then expire_tickets(world, ttl_ms) end
  if is_due(world, tick_ms, size) then due[#due + 1] = world end
end
empty_closing()
forget_records()
flush()
flush_matches()
redis.call('HSET', meta_key, 'swept', int(now_ms) .. '|' .. more)
return finish({1, tell_all(), int(now_ms), more, parked, gone, matches_expired, tickets_expired, seats_released,
  table.concat(due, ';'), worlds_to_poke()})
