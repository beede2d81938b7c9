-- end_match: a match is over for everybody whose record still names it; who was in it is told.
-- kind is match_ended or match_cancelled. Those who are spared, if any, go on as they are. Needs matches and cancel_match.
local function end_match(id, match, kind, reason, spared)
  if is_held(match) then
    cancel_match(id, match, kind == 'match_cancelled' and reason or 'left', {}, spared)
    return
  end
  preload(match.players)
  local presences = presences_of(match.players)
  for i, player in ipairs(match.players) do
    local record = load(player)
    if record.match == id and not (spared and spared[player]) then
      unbind(record, player)
      save(player)
      tell_player(player, presences[i], note(player, kind, match.world, id, reason))
    end
  end
  match.version = int(last)
  forget_match(id, match)
  count_open(match.world, -1)
  stream(kind, id, format_match(match), reason)
end
