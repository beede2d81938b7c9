-- restore_match: a match that is known of before the loss is there again, for all that nothing newer stands for.
-- Needs ending, seats, free_lost and asserted_matches.

-- is_newer tells of a record that later knowledge, or this epoch, wrote.
local function is_newer(record, as_of)
  local version = tonumber(record.version)
  return version > tonumber(as_of) or version >= tonumber(epoch)
end

-- taken_since tells of a player whom a match formed in this epoch has: it cannot be given back.
local function taken_since(player, id)
  local other = load(player).match
  if other == '' or other == id then return false end
  local text = redis.call('HGET', prefix .. 'm', other)
  return text and parse_match(text).epoch == epoch
end

-- rejoin gives a participant its match back where nothing newer stands.
local function rejoin(player, id, match, presence)
  local record = load(player)
  -- Since the match was formed, not since it was last changed: others may have left it in this epoch.
  if record.match == id then
    -- It was held when its player's session last heard of it.
    if is_bound(record) and not is_held(match) and not has_left(match, player) then
      bind(player, id, match, first_stage(player, parse_terms(match.terms)))
      if presence.state == 'L' then tell_match(presence.instance, id, format_match(match)) end
      tell_player(player, presence)
    end
    return
  end
  if has_left(match, player) or is_newer(record, match.created) then return end
  -- Whose session has spoken in this epoch is to take this for news; the assertion of any other still wins
  -- where it knows of more than the match.
  bind(player, id, match, match.open ~= '' and match.terms ~= '' and 't' or '', presence.epoch ~= epoch and match.created or nil)
  keep(player)
  if presence.state == 'L' then tell_match(presence.instance, id, format_match(match)) end
  tell_player(player, presence)
end

-- newer_of is what of a match was known last.
local function newer_of(stored, told_of)
  if not stored then return parse_match(told_of) end
  local match = told_of and parse_match(told_of)
  return match and tonumber(match.version) > tonumber(stored.version) and match or stored
end

-- is_elsewhere tells of a player for whom anything newer than the match stands, such as that it left it or waits anew.
local function is_elsewhere(player, id, match)
  local record = load(player)
  return record.match ~= id and not has_left(match, player) and is_newer(record, match.created)
end

-- leave_out strikes those who are elsewhere, for whom the others would wait, and returns whether there were any.
local function leave_out(id, match)
  local rest = {}
  for _, player in ipairs(match.players) do
    if not is_elsewhere(player, id, match) then
      rest[#rest + 1] = player
    elseif match.open == '' then
      match.left[#match.left + 1] = player
    end
  end
  if #rest == #match.players then return false end
  match.version = next_place()
  if match.open ~= '' then
    if parse_terms(match.terms).seats > 0 then match.open = int(tonumber(match.open) + #match.players - #rest) end
    match.players = rest
  end
  return true
end

-- falls_through tells of a match that cannot be without one of its players: one who is in a match of this epoch; or who is
-- elsewhere, where the match is held. What the durable record has and nobody asserted is nobody's to miss.
local function falls_through(id, match, is_asserted)
  for _, player in ipairs(match.players) do
    if is_held(match) and is_elsewhere(player, id, match) then return true end
    if is_asserted and match.open == '' and not has_left(match, player) and taken_since(player, id) then return true end
  end
  return false
end

-- is_deserted tells of a match that all have left.
local function is_deserted(match) return #match.left >= #match.players end

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
      if presence.epoch ~= epoch then
        unbind(record, player)
        save(player, match.created)
      elseif not is_held(match) and match.open ~= '' and tonumber(match.open) > 0 then
        seat_again(player, record, id, match)
        tell_player(player, presence)
      else
        free_lost(player, id)
      end
    end
  end
end

local settled = {}
local function restore_match(player, id, is_asserted)
  if id == '' or settled[id] then return end
  local stored, told_of = match_of(id), asserted_matches[id]
  if not stored and not told_of then
    kept[player] = int(now_ms + presence_ttl_ms) -- unless another instance brings it, the sweep cancels it then
    return
  end
  local match = newer_of(stored, told_of)
  settled[id] = match
  preload(match.players)
  if not is_held(match) and (not stored or is_held(stored)) then count_open(match.world, 1) end
  if falls_through(id, match, is_asserted) then
    end_match(id, match, 'match_cancelled', 'lost')
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
  if is_changed then
    tell_change(id)
    stream_if_read('match_update', id, text)
  end
  local presences = presences_of(match.players)
  for i, other in ipairs(match.players) do
    rejoin(other, id, match, presences[i])
  end
  if match.open ~= '' then hold_seats(match, presences) end
  if stored then free_strangers(stored.players, id, match) end
end
