-- cancel_match: a match that was held falls through. Who is out may not come back to the world for as long as it says,
-- and loses its tickets, unless it just left that world; everybody else is back at the old places, or away at them, but who is spared. Needs
-- matches and put_back.
local function cancel_match(id, match, reason, out, spared)
  preload(match.players)
  local presences, cooldown_ms = presences_of(match.players), parse_terms(match.terms).cooldown_ms
  for i, player in ipairs(match.players) do
    local record, presence = load(player), presences[i]
    if record.match == id and not (spared and spared[player]) then
      unbind(record, player)
      save(player)
      tell_player(player, presence, note(player, 'match_cancelled', match.world, id, reason))
      if out[player] and cooldown_ms > 0 then
        write_last('SET', prefix .. 'dc:' .. match.world .. ',' .. player, int(now_ms + cooldown_ms), 'PX', 2 * cooldown_ms)
      end
      if out[player] and out[player] ~= 'left' then
        end_ticket(player, nil, 'declined', presence)
      elseif is_live(presence) then
        local gone_at_ms = presence.state == 'H' and redis.call('ZSCORE', prefix .. 'aw', player)
        put_back(player, presence)
        if gone_at_ms then away[player] = int(tonumber(gone_at_ms)) end -- who lives by heartbeats keeps its deadline
        requeued[#requeued + 1] = {player = player, presence = presence, match = id}
      elseif waits(player) then
        local gone_at_ms = redis.call('ZSCORE', prefix .. 'aw', player) or now_ms + 2 * presence_ttl_ms
        park(player, int(tonumber(gone_at_ms)))
      end
    end
  end
  match.version = int(last)
  forget_match(id, match)
  stream('match_cancelled', id, format_match(match), reason)
end
