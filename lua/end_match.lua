#!lua flags=allow-oom
-- end_match: a match is over: a back end says so, or its time has passed and somebody asks.
-- Guarantee:  everybody whose record names it is freed and told in one step, nobody else is touched. Sent
--             again: no such match.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 = use redis TIME
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     match      id
-- ARGV[6]     reason     ended|expired  expired: only where its time has passed
-- Returns     {1, own part of what was told, now_ms} | {-10} no such match, or not due
-- Touches     pl, pr:<player>, m, mx, st, ws:<world>, no:<player>, aw, kp, pub, i:<instance>
-- Cost        O(players of the match)
-- @include prelude
-- @include writes
-- @include tell
-- @include match_record
-- @include end_match
local id, reason = ARGV[5], ARGV[6]
local text = redis.call('HGET', prefix .. 'm', id)
if not text then return finish({CODE_NO_SUCH_MATCH}) end
local match = parse_match(text)
if reason == 'expired' and (calm or tonumber(match.ends) > now_ms) then return finish({CODE_NO_SUCH_MATCH}) end
end_match(id, match, 'match_ended', reason)
flush()
flush_matches()
return finish({1, tell_all(), int(now_ms)})
