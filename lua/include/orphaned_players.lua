-- orphaned_players: players whose records name a match that they are not in, or that cannot be. Needs ending, seats, free_lost.
-- set_back undoes that a player was given back a match although its own session has not spoken in this epoch, and returns
-- whether that is so: without a word, and so that the session's assertion still wins.
local function set_back(player, match, presence)
  if presence.epoch == epoch then return false end
  unbind(load(player), player)
  save(player, match.created)
  if waits(player) and away[player] == nil and not redis.call('ZSCORE', prefix .. 'aw', player) then
    park(player, int(now_ms + 2 * presence_ttl_ms))
  end
  return true
end

-- fall_through cancels a match for those of its players whose sessions have spoken in this epoch. Of another the assertion is
-- still to come, and wins; where it does not come the sweep says that the match is lost.
local function fall_through(id, match)
  local spared = {}
  preload(match.players)
  for i, presence in ipairs(presences_of(match.players)) do
    local player = match.players[i]
    if presence.epoch ~= epoch and load(player).match == id then
      spared[player], kept[player] = true, int(now_ms + presence_ttl_ms)
    end
  end
  end_match(id, match, 'match_cancelled', 'lost', spared)
end

-- seat_again gives a player a seat of a match that its record names.
local function seat_again(player, record, id, match)
  local stage = record.acked
  take_seat(id, match, player)
  if stage == 't' then record.acked, seat_holds[player] = 't', false end -- it has said that it is there
  match.version = next_place()
  stream_if_read('match_update', id, store_match(id, match))
  tell_change(id)
end

-- free_strangers frees those whose records name a match and who are not in it, or no longer: who asserted that did not know.
-- One whose session has not spoken in this epoch was only given it back, which is undone without a word, so that its own
-- assertion still wins. One whose session has keeps a seat that the book does not know, where there is one.
local function free_strangers(players, id, match)
  for _, player in ipairs(players) do
    local record = load(player)
    if record.match == id and (has_left(match, player) or not is_one_of(match.players, player)) then
      local presence = presences_of({player})[1]
      if set_back(player, match, presence) then
        -- its own session's assertion is still to come
      elseif not is_held(match) and match.open ~= '' and tonumber(match.open) > 0 then
        seat_again(player, record, id, match)
        tell_player(player, presence)
      else
        free_lost(player, id)
      end
    end
  end
end
