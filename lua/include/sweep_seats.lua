-- sweep_seats: seats whose players are not there.
local told_rooms = {}

-- seat_cost is how many players giving back a player's seat touches: those of the match, once a call, are told.
local function seat_cost(player)
  local record = load(player)
  local match = has_seat(record) and not told_rooms[record.match] and match_of(record.match)
  if not match then return 1 end
  return math.max(1, #match.players)
end

-- release_seat gives back the seat of a player who is gone, or did not take it up.
local function release_seat(player, presence)
  local record = load(player)
  local id, match = record.match, has_seat(record) and match_of(record.match)
  if not match or is_held(match) then return end
  told_rooms[id] = true
  unbind(record, player)
  save(player)
  tell_player(player, presence, note(player, 'match_ended', match.world, id, 'expired'))
  leave_seat(id, match, player, record.version)
  seats_released = seats_released + 1
end

local function expire_seats()
  local players = due_members(prefix .. 'sh', now_text)
  preload(players)
  for i, presence in ipairs(presences_of(players)) do
    local player = players[i]
    if not afford(seat_cost(player)) then return end
    seat_holds[player] = false
    if load(player).acked == 's' then release_seat(player, presence) end
  end
end
