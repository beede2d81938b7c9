#!lua flags=allow-oom
-- show_matches: prompts of proposed matches were written to their players' sockets. Who was not shown one is not put out
-- for not answering.
-- Guarantee:  changes nothing but who was shown. Sent again: changes nothing.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     count      integer    prompts that follow
-- ARGV[6..]   player id, match id; for each
-- Returns     {1, '', now_ms}
-- Touches     m, mx, al, an, op:<world>
-- Cost        O(players of the matches); at most 100 a call
-- @include match
local count = tonumber(ARGV[5])
for i = 1, count do
  local player, id = ARGV[4 + i * 2], ARGV[5 + i * 2]
  local match = match_of(id)
  if match and match.state == 'proposed' and is_one_of(match.players, player) and not is_one_of(match.shown, player) then
    match.shown[#match.shown + 1] = player
    match.version = next_place()
    store_match(id, match)
  end
end
flush_matches()
return finish({1, '', int(now_ms)})
