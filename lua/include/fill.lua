-- fill: the queue's oldest take the open seats of the world's matches, those with the fewest left first. Needs seats.
-- PLAYERS_MAX bounds how many players the matches of one call may have.
local PLAYERS_MAX = 200
local rooms_with_seats, seated_in, seats_taken, players_near = {}, {}, 0, 0

-- read_open_seats reads the matches with open seats, the fullest first, as many as may be needed for so many players.
local function read_open_seats(world, players)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'op:' .. world, '1', '+inf', 'LIMIT', 0, math.min(players, 32))) do
    local match = match_of(id)
    if match then
      if players_near + #match.players > PLAYERS_MAX then return end
      rooms_with_seats[#rooms_with_seats + 1] = {id = id, match = match}
      players_near = players_near + #match.players
    end
  end
end

-- fullest is the match with the fewest open seats that takes the player.
local function fullest(may_sit)
  local best
  for _, room in ipairs(rooms_with_seats) do
    local open = tonumber(room.match.open)
    if open > 0 and (not best or open < tonumber(best.match.open)) and may_sit(room.match) then best = room end
  end
  return best
end

-- seat gives a live player a seat in a match, if one takes it.
local function seat(member, may_sit)
  local room = fullest(may_sit)
  if not room then return false end
  bind_newcomer(member, false)
  take_seat(room.id, room.match, member.player)
  seated_in[room] = seated_in[room] or {}
  table.insert(seated_in[room], member)
  seats_taken = seats_taken + 1
  return true
end

-- anybody is for worlds in which all may meet.
local function anybody() return true end

-- seat_all seats whom it can, the oldest first, and returns the others.
local function seat_all(world, live, may_sit_with)
  local rest = {}
  if #live == 0 then return live end
  read_open_seats(world, #live)
  if #rooms_with_seats == 0 then return live end
  for _, member in ipairs(live) do
    if not seat(member, may_sit_with(member)) then rest[#rest + 1] = member end
  end
  return rest
end

-- tell_seated tells everybody in the matches that took players in.
local function tell_seated()
  for room, members in pairs(seated_in) do
    room.match.version = next_place()
    local text = store_match(room.id, room.match)
    tell_members(room.id, room.match, text)
    for _, member in ipairs(members) do
      tell_player(member.player, member.presence)
    end
    stream_if_read('match_update', room.id, text)
  end
end

-- settle writes what was joined and matched, and is the script's reply.
local function settle(more, opens_at_ms, next_after)
  enter_waiting()
  flush()
  flush_matches()
  count_formed(world)
  count_throttled(world, terms)
  tell_unasked()
  return finish(answer_joins({1, tell_all(), int(now_ms), more, #formed, formed_players + seats_taken, parked,
    int(formed_wait_ms), int(opens_at_ms), next_after, mean_wait, size_before}))
end
