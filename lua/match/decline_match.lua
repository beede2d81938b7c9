#!lua flags=allow-oom
-- decline_match: a player does not want the match that it was proposed; it falls through.
-- Guarantee:  touches only who is in this match. Who declined loses its tickets and is cooled down; the others are back
--             at their old places in all their worlds, in the same step. Sent again: no such match.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     player     id
-- ARGV[6]     generation integer
-- ARGV[7]     match      id
-- Returns     {1, own part of what was told (with the record), now_ms, '', worlds whose players are back, last place
--             before}
--             | {-10} no such match, or it stands | {-3} replaced
-- Touches     as leave_match
-- Cost        O(players of the match)
-- @include end_bundle
local player, generation, id = ARGV[5], ARGV[6], ARGV[7]
local presence = presences_of({player})[1]
if is_older(generation, presence) then return finish({CODE_REPLACED}) end
local record, match = load(player), match_of(id)
if record.match ~= id or not match or not is_held(match) then return finish({CODE_NO_SUCH_MATCH}) end
local before = int(last)
tell_self()
cancel_match(id, match, match.state == 'proposed' and 'declined' or 'left', {[player] = true})
flush()
flush_matches()
return finish({1, tell_all(), int(now_ms), '', worlds_to_poke(), before})
