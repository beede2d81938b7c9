#!lua flags=allow-oom
-- mark_prompts_shown: proposed matches were shown to their players. A player that a prompt did not reach is not put out for not
-- answering.
-- Guarantee:  changes nothing but who was shown. An answer to an HTTP request counts for a player that lives by heartbeats:
--             another is asked over its WebSocket, and a back end may be the one that reads its state. Sent again: changes
--             nothing.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     count      integer    prompts that follow
-- ARGV[6..]   player id, match id, 1 by HTTP | 0 by WebSocket; for each
-- Returns     {1, '', now_ms}
-- Touches     m, mx, al, an, op:<world>, pr:<player>, aw
-- Cost        O(players of the matches); at most 100 a call
-- @include match
local count, players = tonumber(ARGV[5]), {}
for i = 1, count do
  players[i] = ARGV[3 + i * 3]
end
for i, presence in ipairs(presences_of(players)) do
  local player, id, is_by_http = unpack(ARGV, 3 + i * 3, 5 + i * 3)
  local match = (is_by_http == '0' or presence.state == 'H') and match_of(id)
  if match and match.state == 'proposed' and is_one_of(match.players, player) and not is_one_of(match.shown, player) then
    match.shown[#match.shown + 1] = player
    match.version = next_place()
    store_match(id, match)
  end
end
flush_matches()
return finish({1, '', int(now_ms)})
