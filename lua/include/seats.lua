-- seats: who is in a match says who holds its seats, and its number of open ones how many may still come; a player's
-- record is its marker. All are written in one step, so that book and markers cannot disagree. Needs matches.

local function take_seat(id, match, player)
  local terms = parse_terms(match.terms)
  if not is_one_of(match.players, player) then -- it may be after a loss of history that took its marker
    match.players[#match.players + 1] = player
    match.open, match.taken = int(tonumber(match.open) - 1), int(tonumber(match.taken) + 1)
  end
  if terms.seats > 0 then match.ends = int(now_ms + terms.hold_ms) end
  bind(player, id, match, first_stage(player, terms))
end

-- leave_seat is the end of a player's part in a match that stands. Where the match has a book of seats the player is
-- struck from it, and in a world of mode fill the seat is open again. It ends with its last player.
local function leave_seat(id, match, player, version)
  local seats, at = parse_terms(match.terms).seats, is_one_of(match.players, player)
  if not at or has_left(match, player) then return end -- its marker was of another history
  if match.open == '' then
    match.left[#match.left + 1] = player
  else
    table.remove(match.players, at)
    if seats > 0 then match.open = int(math.max(0, math.min(tonumber(match.open) + 1, seats - #match.players))) end
  end
  match.version = version
  if #match.left >= #match.players then
    forget_match(id, match)
    count_open(match.world, -1)
    stream('match_ended', id, format_match(match), 'left')
    return
  end
  local text = store_match(id, match)
  tell_change(id)
  stream_if_read('match_update', id, text)
end
