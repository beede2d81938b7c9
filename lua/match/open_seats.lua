#!lua
-- open_seats: a back end opens seats of a match for backfill, or closes them.
-- Guarantee:  so many are open after it as it says, whatever was. With what it last saw taken, a call that was sent
--             again, after one of its seats was taken, changes nothing. Sent again: changes nothing.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     match      id
-- ARGV[6]     open       integer
-- ARGV[7]     taken      integer    change only if so many were taken; '' = in any case
-- Returns     {1, '', now_ms, open, taken, world} | {-10} no such match, or it does not stand yet
-- Touches     m, mx, st, op:<world>, al, an
-- Cost        O(players of the match)
-- @include match
local id, open, taken = ARGV[5], tonumber(ARGV[6]), ARGV[7]
local SEATS_MAX = 100
local match = match_of(id)
if not match or is_held(match) then return finish({CODE_NO_SUCH_MATCH}) end
if match.taken == '' then match.taken = '0' end
if taken == '' or taken == match.taken then
  if match.open == '' then
    local present = {}
    for _, player in ipairs(match.players) do
      if not has_left(match, player) then present[#present + 1] = player end
    end
    match.players, match.left = present, {}
  end
  local seats = parse_terms(match.terms).seats
  local most = (seats > 0 and seats or SEATS_MAX) - #match.players
  local opened = int(math.max(0, math.min(open, most)))
  if match.open ~= opened then
    match.open, match.version = opened, next_place()
    stream_if_read('match_update', id, store_match(id, match))
    flush_matches()
  end
end
return finish({1, '', int(now_ms), match.open ~= '' and match.open or '0', match.taken, match.world})
