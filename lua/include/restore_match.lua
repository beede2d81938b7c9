-- restore_match: a match that is known of before the loss is there again, for all that nothing newer stands for.
-- Needs ending, seats, free_lost and asserted_matches.
-- @include conflict_rules
-- @include orphaned_players

-- rejoin gives a participant its match back where nothing newer stands.
local function rejoin(player, id, match, presence)
  local record = load(player)
  if has_left(match, player) then return end
  if record.match == id then
    if not is_bound(record) or is_held(match) then return end -- it was held when its player's session last heard of it
  elseif is_newer(record, match.created) then
    return -- than its formation, not than its last change: others may have left it in this epoch
  end
  -- Whose session has spoken in this epoch is to take this for news; the assertion of any other still wins
  -- where it knows of more than the match.
  bind(player, id, match, parse_terms(match.terms).seats > 0 and 't' or '', presence.epoch ~= epoch and match.created or nil)
  keep(player)
  if presence.state == 'L' then tell_match(presence.instance, id, format_match(match)) end
  tell_player(player, presence)
end

-- hold_seats has the seats of those who are not there end with their grace.
local function hold_seats(match, presences)
  local seat_hold_ms = parse_terms(match.terms).seat_hold_ms
  for i, player in ipairs(match.players) do
    local record = load(player)
    if record.acked == 's' and seat_hold_ms > 0 then seat_holds[player] = int(now_ms + seat_hold_ms) end
    if has_seat(record) and presences[i].epoch ~= epoch and away[player] == nil then
      away[player] = int(now_ms + 2 * presence_ttl_ms)
    end
  end
end

local settled = {}
local function restore_match(player, id, is_asserted)
  if id == '' or settled[id] then return end
  local stored = match_of(id)
  local match = newer_of(stored, asserted_matches[id])
  if not match then
    kept[player] = int(now_ms + presence_ttl_ms) -- unless another instance brings it, the sweep cancels it then
    return
  end
  settled[id] = true
  preload(match.players)
  if not is_held(match) and (not stored or is_held(stored)) then count_open(match.world, 1) end
  if falls_through(id, match, is_asserted) then
    fall_through(id, match)
    return
  end
  local is_changed = leave_out(id, match)
  if is_deserted(match) then
    count_open(match.world, -1)
    forget_match(id, match)
    if stored then stream('match_ended', id, format_match(match), 'left') end
    return
  end
  local text = store_match(id, match)
  if is_changed then tell_change(id) end
  if is_asserted and match ~= stored then
    -- The entry that said so may be lost with the old history, and no reader may have begun in this one.
    stream('match_' .. match.state, id, text)
  elseif is_changed then
    stream_if_read('match_update', id, text)
  end
  local presences = presences_of(match.players)
  for i, other in ipairs(match.players) do
    rejoin(other, id, match, presences[i])
  end
  if match.open ~= '' then hold_seats(match, presences) end
  if stored then free_strangers(stored.players, id, match) end
end
