#!lua flags=allow-oom
-- accept_match: a player takes part in the match that it was proposed; with the last one it stands, or asks for a server.
-- Guarantee:  the last accept and what follows from it are one step. Sent again: accepted again, until the match stands.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     player     id
-- ARGV[6]     generation integer
-- ARGV[7]     match      id
-- Returns     {1, own part of what was told, now_ms, state of the match, last place before}
--             | {-10} no such match, its time is over, or it stands | {-3} replaced
-- Touches     pl, pr:<player>, m, mx, st, q:<world>:<n>, ws:<world>, kp, op:<world>, al, an,
--             rc:<world>,<a>,<b>, pub, i:<instance>
-- Cost        O(players of the match)
-- @include match
-- @include count_completed
-- @include complete_match
local player, generation, id = ARGV[5], ARGV[6], ARGV[7]
if is_older(generation, presences_of({player})[1]) then return finish({CODE_REPLACED}) end
local match, before = match_of(id), int(last)
if load(player).match ~= id or not match or not is_held(match) then return finish({CODE_NO_SUCH_MATCH}) end
if not is_one_of(match.accepted, player) then
  -- Nothing ends by time while it is calm.
  if match.state ~= 'proposed' or not calm and tonumber(match.by) <= now_ms then return finish({CODE_NO_SUCH_MATCH}) end
  match.accepted[#match.accepted + 1] = player
  if not is_one_of(match.shown, player) then match.shown[#match.shown + 1] = player end
  if #match.accepted == #match.players then go_on(id, match) end
  tell_self()
  write_match(id, match)
  flush()
  flush_matches()
end
return finish({1, tell_all(), int(now_ms), match.state, before})
