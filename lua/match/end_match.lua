#!lua flags=allow-oom
-- end_match: a match is over: a back end says so, or its time has passed and somebody asks.
-- Guarantee:  everybody whose record names it is freed and told in one step, nobody else is touched; of a match that
--             was held everybody is back at its place. Sent again: no such match.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     match      id
-- ARGV[6]     reason     ended|expired  expired: only where its time has passed
-- Returns     {1, own part of what was told, now_ms, worlds whose players are back} | {-10} no such match, or not due
-- Touches     pl, pr:<player>, ins, m, mx, st, w, q:<world>:<n>, ws:<world>, no:<player>, aw, kp, op:<world>, sh, al, an,
--             dc:<world>, pub, i:<instance>
-- Cost        O(players of the match)
-- @include end_bundle
local id, reason = ARGV[5], ARGV[6]
local match = match_of(id)
if not match then return finish({CODE_NO_SUCH_MATCH}) end
if reason == 'expired' and (calm or is_held(match) or tonumber(match.ends) > now_ms) then return finish({CODE_NO_SUCH_MATCH}) end
end_match(id, match, 'match_ended', reason)
flush()
flush_matches()
return finish({1, tell_all(), int(now_ms), worlds_to_poke()})
