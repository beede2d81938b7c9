#!lua flags=allow-oom
-- finish_allocation: what came of an attempt to get a match its server: it stands, is tried again later, or falls through.
-- Guarantee:  only the attempt that was claimed last settles. That a match stands, its players' tickets end and everybody
--             is told is one step; so is that everybody is back. Sent again: no such match, or tried again as before.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     match      id
-- ARGV[6]     attempt    integer
-- ARGV[7]     outcome    complete|retry|failed
-- ARGV[8]     detail     endpoint as base64url (complete), after_ms (retry)
-- Returns     {1, own part of what was told, now_ms, worlds whose players are back} | {-10} no such match, or attempt
-- Touches     pl, pr:<player>, ins, m, mx, st, w, q:<world>:<n>, ws:<world>, no:<player>, aw, kp, op:<world>, sh, al, an,
--             dc:<world>, rc:<world>,<a>,<b>, af:<world>, pub, i:<instance>
-- Cost        O(players of the match)
-- @include end_bundle
-- @include count_completed
-- @include complete_match
-- @include allocator_backoff
local id, attempt, outcome, detail = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
local match = match_of(id)
if not match or match.state ~= 'allocating' or redis.call('HGET', prefix .. 'an', id) ~= attempt then
  return finish({CODE_NO_SUCH_MATCH})
end
if outcome == 'retry' then
  redis.call('ZADD', prefix .. 'al', int(now_ms + tonumber(detail)), id)
  return finish({1, '', int(now_ms), ''})
end
if outcome == 'complete' then
  match.endpoint = detail
  write_last('DEL', prefix .. 'af:' .. match.world)
  stand(id, match)
  write_match(id, match)
else
  cancel_match(id, match, 'allocation_failed', {})
  pause_allocator(match.world)
end
flush()
flush_matches()
return finish({1, tell_all(), int(now_ms), worlds_to_poke()})
