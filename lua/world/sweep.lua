#!lua flags=allow-oom
-- sweep: what time changes: silent instances' players are parked, those away too long are gone, matches, seats and
-- tickets expire, closing worlds are emptied, records that need not be kept are removed.
-- Guarantee:  one call touches about limit players, whatever the number of kinds and worlds; the next goes on where it
--             stopped, so that each kind and world has its turn. Nothing ends by time while it is calm. It does nothing if
--             an instance that serves all open worlds did it within the interval. Sent again: goes on where it stopped.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     interval_ms  integer  how often it is worth doing
-- ARGV[6]     limit      integer    the most players of a call; a match with more is ended alone
-- ARGV[7]     drain_ms   integer    what a silent instance's players get beyond presence_ttl
-- ARGV[8]     count      integer    worlds that follow
-- ARGV[9..]   world id, ticket_ttl_ms, tick_ms, size; for each
-- Returns     {1, own part of what was told, now_ms, more 0|1, parked, gone, matches expired, tickets expired,
--             seats released, worlds that are due for a look, joined by ;, worlds whose players are back, likewise}
--             | {0} another instance did it
-- Touches     pl, pr:<player>, ins, pub, ip:<instance>, aw, q:<world>:<n>, m, mx, st, no:<player>, kp, w, wc, wt, ws:<world>,
--             op:<world>, sh, al, an, dc:<world>, i:<instance>
-- Cost        O(limit log n + worlds)
-- @include end_bundle
-- @include seats
local interval_ms, limit, drain_ms, world_count = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
-- swept is when the last sweep was, and what it left: 0 nothing, 1 more to do, 2 worlds that its instance does not serve.
local last_sweep = redis.call('HMGET', meta_key, 'swept', 'sweep_from')
local swept_ms, left_over = string.match(last_sweep[1] or '0|0', '^(%d+)|(%d)$')
if left_over == '0' and math.abs(now_ms - tonumber(swept_ms)) < interval_ms then return finish({0}) end
local parked, gone, matches_expired, tickets_expired, seats_released = 0, 0, 0, 0, 0
-- @include release_lost_player
-- @include sweep_turns
-- @include sweep_seats
-- @include sweep_presence
-- @include sweep_deadlines
-- @include sweep_worlds
local served, names = {}, {}
for i = 0, world_count - 1 do
  local name = ARGV[9 + i * 4]
  served[name] = {ttl_ms = tonumber(ARGV[10 + i * 4]), tick_ms = tonumber(ARGV[11 + i * 4]), size = tonumber(ARGV[12 + i * 4])}
  names[i + 1] = name
end
load_worlds(served, names)
if not calm then
  add_turn('gone', evict_gone)
  add_turn('matches', expire_matches)
  add_turn('seats', expire_seats)
  add_turn('silent', park_silent)
end
add_turn('records', forget_records)
add_world_turns(served)
local due, looked_at = due_worlds(served, names)
local more, go_on_from = take_turns(last_sweep[2] or '')
flush()
flush_matches()
flush_silent()
write_many('HSET', prefix .. 'wt', looked_at)
left_over = more == 0 and not serves_all(served) and 2 or more
redis.call('HSET', meta_key, 'swept', now_text .. '|' .. left_over)
note_turn(go_on_from)
return finish({1, tell_all(), int(now_ms), more, parked, gone, matches_expired, tickets_expired, seats_released,
  table.concat(due, ';'), worlds_to_poke()})
