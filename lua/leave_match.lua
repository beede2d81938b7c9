#!lua flags=allow-oom
-- leave_match: a player leaves its open match and is free to queue again; the match ends with its last.
-- Guarantee:  touches only a record that names this match: a seat is given back only by who holds it. A match that is
--             held falls through, as by a decline. Sent again: no such match.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 = use redis TIME
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     player     id
-- ARGV[6]     generation integer
-- ARGV[7]     match      id
-- Returns     {1, own part of what was told, now_ms, record ('' of a match that fell through: it is in what was told),
--             worlds whose players are back}
--             | {-10} no such match | {-3} replaced
-- Touches     pl, pr:<player>, ins, m, mx, st, w, q:<world>:<n>, ws:<world>, no:<player>, aw, kp, op:<world>, sh, al, an,
--             dc:<world>, pub, i:<instance>
-- Cost        O(players of the match)
-- @include ending
-- @include seats
local player, generation, id = ARGV[5], ARGV[6], ARGV[7]
local presence = presences_of({player})[1]
if is_older(generation, presence) then return finish({CODE_REPLACED}) end
local record = load(player)
if id == '' or record.match ~= id then return finish({CODE_NO_SUCH_MATCH}) end
local match = match_of(id)
tell_self()
local fell_through = match and is_held(match)
if fell_through then
  cancel_match(id, match, match.state == 'proposed' and 'declined' or 'left', {[player] = true})
else
  unbind(record, player)
  save(player)
  if match then leave_seat(id, match, player, record.version) end
end
flush()
flush_matches()
return finish({1, tell_all(), int(now_ms), fell_through and '' or format_record(record), worlds_to_poke()})
