#!lua flags=allow-oom
-- restore_matches: after a loss of history the durable record says which matches stood; those that no instance asserted
-- are there again, with their seats.
-- Guarantee:  what Redis has stands if it is newer; a player for whom anything newer stands is not given back. A record
--             that cannot be read is passed over. Sent again: changes nothing.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     count      integer    matches that follow
-- ARGV[6..]   match id, record; for each
-- Returns     {1, own part of what was told, now_ms, matches restored, worlds whose players are back}
-- Touches     pl, pr:<player>, ins, aw, q:<world>:<n>, m, mx, st, w, ws:<world>, no:<player>, kp, op:<world>, sh, al, an,
--             dc:<world>, pub, i:<instance>
-- Cost        O(players of the matches); about 100 a call
-- @include end_bundle
-- @include seats
-- @include release_lost_player
local asserted_matches, count, restored = {}, tonumber(ARGV[5]), 0
-- @include restore_match

for i = 1, count do
  local id, text = ARGV[4 + i * 2], ARGV[5 + i * 2]
  local match = parse_match(text)
  if match then
    last = math.max(last, tonumber(match.version))
    if not match_of(id) and tonumber(match.ends) > now_ms and tonumber(match.version) < tonumber(epoch) then
      asserted_matches[id] = text
      restore_match('', id, false)
      if match_of(id) then restored = restored + 1 end
    end
  end
end
flush()
flush_matches()
return finish({1, tell_all(), int(now_ms), restored, worlds_to_poke()})
