-- seat_players: the queue's oldest take the open seats of the world's matches, those with the fewest left first. Needs seats.
-- PLAYERS_MAX bounds how many players the matches of one call may have, and ROOMS_MAX how many there are. LOOKUPS_MAX is
-- how many pairs of players a call looks up.
local PLAYERS_MAX, ROOMS_MAX, LOOKUPS_MAX = 200, 32, 1000
local rooms_with_seats, seated_in, seats_taken, lookups = {}, {}, 0, 0

-- bound_by_size reports whether a room has open seats, after it has lost those beyond the size that the world's rooms have
-- now. It needs the script's terms.
local function bound_by_size(id, match)
  local before, seats, behind = string.match(match.terms, '^(%d+,%d+,%d+,%d,)(%d+)(,.*)$')
  if terms.seats > 0 and seats and tonumber(seats) > terms.seats then
    match.terms = before .. int(terms.seats) .. behind
    match.open = int(math.max(0, math.min(tonumber(match.open), terms.seats - #match.players)))
    match.version = next_place()
    stream_if_read('match_update', id, store_match(id, match))
  end
  return tonumber(match.open) > 0
end

-- read_open_seats reads matches with open seats, the fullest first: at most so many behind those that are skipped. It
-- returns how many it read, and whether there are more.
local function read_open_seats(world, skipped, most)
  local key, near = prefix .. 'op:' .. world, 0
  local ids = redis.call('ZRANGEBYSCORE', key, '1', '+inf', 'LIMIT', skipped, most + 1)
  preload_matches(ids)
  for i, id in ipairs(ids) do
    local match = i <= most and match_of(id)
    near = near + (match and #match.players or 0)
    if i > most or near > PLAYERS_MAX and i > 1 then return i - 1, true end
    if match and bound_by_size(id, match) then
      rooms_with_seats[#rooms_with_seats + 1] = {id = id, match = match}
    elseif not match then
      open_rooms[key] = open_rooms[key] or {}
      open_rooms[key][id] = false
    end
  end
  return #ids, false
end

-- fullest is the match with the fewest open seats that takes the player.
local function fullest(member, may_sit)
  local best
  for _, room in ipairs(rooms_with_seats) do
    local open = tonumber(room.match.open)
    if open > 0 and (not best or open < tonumber(best.match.open)) and may_sit(member, room.match) then best = room end
  end
  return best
end

-- seat gives a live player a seat in a match, if one takes it.
local function seat(member, may_sit)
  local room = fullest(member, may_sit)
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

-- seat_all offers live tickets the seats of the rooms behind those that were skipped, the oldest ticket first. It returns
-- the tickets without a seat, how many rooms were skipped or read, whether there are more rooms, and the place of the
-- last ticket that it came to if that is not the last of all.
local function seat_all(world, live, skipped, may_sit)
  if #live == 0 then return live, skipped, false end
  local read, more_rooms = read_open_seats(world, skipped, may_sit == anybody and math.min(#live, ROOMS_MAX) or ROOMS_MAX)
  if #rooms_with_seats == 0 then return live, skipped + read, more_rooms end
  local rest = {}
  for i, member in ipairs(live) do
    if lookups >= LOOKUPS_MAX then return rest, skipped + read, more_rooms and #rest > 0, live[i - 1].place end
    if not seat(member, may_sit) then rest[#rest + 1] = member end
  end
  return rest, skipped + read, more_rooms and #rest > 0
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
