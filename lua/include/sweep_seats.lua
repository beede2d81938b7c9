-- sweep_seats: seats whose players are not there.

-- release_seat gives back the seat of a player who is gone, or did not take it up.
local function release_seat(player, presence)
  local record = load(player)
  local id, match = record.match, record.match ~= '' and match_of(record.match)
  if not match or match.open == '' or is_held(match) then return end
  unbind(record, player)
  save(player)
  tell_player(player, presence, note(player, 'match_ended', match.world, id, 'expired'))
  leave_seat(id, match, player, record.version)
  seats_released = seats_released + 1
end

local function expire_seats()
  local players = redis.call('ZRANGEBYSCORE', prefix .. 'sh', '-inf', int(now_ms), 'LIMIT', 0, limit)
  if #players == 0 then return end
  preload(players)
  for i, presence in ipairs(presences_of(players)) do
    seat_holds[players[i]] = false
    if load(players[i]).acked == 's' then release_seat(players[i], presence) end
  end
  if #players == limit then more = 1 end
end
