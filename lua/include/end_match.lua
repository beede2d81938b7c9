-- end_match: a match is over for everybody whose record still names it; who was in it is told.
-- kind is match_ended or match_cancelled. Needs matches and cancel_match.
local function end_match(id, match, kind, reason)
  if is_held(match) then
    cancel_match(id, match, kind == 'match_cancelled' and reason or 'left', {})
    return
  end
  preload(match.players)
  local presences = presences_of(match.players)
  for i, player in ipairs(match.players) do
    local record = load(player)
    if record.match == id then
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
