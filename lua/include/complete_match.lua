-- complete_match: a match that was held stands, and its players' tickets end. Needs matches and count_completed.
-- @include rematch
local function stand(id, match)
  local terms, oldest = parse_terms(match.terms), tonumber(match.created)
  match.state, match.ends = 'complete', int(now_ms + terms.hold_ms)
  preload(match.players)
  for _, player in ipairs(match.players) do
    local record = load(player)
    if record.match == id then
      local t = ticket_in(record, match.world)
      if t and is_waiting(t) then oldest = math.min(oldest, tonumber(t.place)) end
      bind(player, id, match, '')
    end
    if match.rematch ~= '' then keep_apart(match.world, player, match.players, match.rematch) end
  end
  count_completed(match.world, 1, math.max(0, now_ms - math.floor(oldest / 1000)))
end

-- go_on takes a match on that everybody has accepted: it stands, or asks for a server.
local function go_on(id, match)
  if parse_terms(match.terms).allocate then
    match.state, match.ends = 'allocating', int(now_ms + ALLOCATING_MAX_MS)
  else
    stand(id, match)
  end
end

-- write_match has the match written as it stands now and everybody in it told.
local function write_match(id, match)
  match.version = next_place()
  local text = store_match(id, match)
  local presences = tell_members(id, match, text)
  if is_held(match) then
    if match.state == 'allocating' then stream_if_read('match_allocating', id, text) end
    return
  end
  for i, player in ipairs(match.players) do
    if load(player).match == id then tell_player(player, presences[i]) end
  end
  stream('match_complete', id, text)
end
