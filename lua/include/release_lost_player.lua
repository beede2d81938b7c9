-- free_lost frees a player from a match that a loss of history took, or took the player out of. Whose tickets it held is back
-- at its places. Needs matches and put_back.
local function free_lost(player, id)
  local presence = presences_of({player})[1]
  unbind(load(player), player)
  save(player)
  tell_player(player, presence, note(player, 'match_cancelled', '', id, 'lost'))
  if not waits(player) then return end
  if presence.state == 'L' and (is_live(presence) or presence.instance == self) then
    put_back(player, presence)
    requeued[#requeued + 1] = {player = player, presence = presence, match = id}
  elseif not redis.call('ZSCORE', prefix .. 'aw', player) then
    park(player, int(now_ms + 2 * presence_ttl_ms))
  end
end
