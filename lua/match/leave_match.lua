#!lua flags=allow-oom
-- leave_match: players leave their open matches and are free to queue again; a match ends with its last.
-- Guarantee:  touches only a record that names this match: a seat is given back only by who holds it. A match that is
--             held falls through, as by a decline. Sent again: no such match.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     count      integer    players that follow
-- ARGV[6..]   player id, generation, match id; for each
-- Returns     {1, own part of what was told, now_ms, worlds whose players are back, then for each {1, record
--             ('' of a match that fell through: it is in what was told), last place before} | {0} not done yet
--             | {-10} no such match | {-3} replaced}
-- Touches     pl, pr:<player>, ins, m, mx, st, w, q:<world>:<n>, ws:<world>, no:<player>, aw, kp, op:<world>, sh, al, an,
--             dc:<world>, pub, i:<instance>
-- Cost        O(players of the matches), those at most about 300; at most 50 a call
-- @include end_bundle
-- @include seats
-- @include match_requests
local count, ids = tonumber(ARGV[5]), {}
for i = 1, count do
  local id = ARGV[5 + i * 3]
  if id ~= '' then ids[#ids + 1] = id end
end
preload_matches(ids)
local answers = answer_each(6, count, function(player, record, id, presence, generation)
  local match = match_of(id)
  local fell_through = match and is_held(match)
  if fell_through then
    tell_self()
    cancel_match(id, match, match.state == 'proposed' and 'declined' or 'left', {[player] = true})
  else
    unbind(record, player)
    save(player)
    tell_of_request(player, presence, generation)
    if match then leave_seat(id, match, player, record.version) end
  end
  return match and #match.players + 1 or 1, fell_through
end)
flush()
flush_matches()
return finish(with_records({1, tell_all(), int(now_ms), worlds_to_poke()}, answers))
