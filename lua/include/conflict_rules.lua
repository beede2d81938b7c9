-- conflict_rules: what of a match that was asserted is overtaken by what is known since. Needs match.
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
  local match = text and parse_match(text)
  return match and match.epoch == epoch
end

-- newer_of is what of a match was known last; nil if nothing is.
local function newer_of(stored, told_of)
  local match = told_of and parse_match(told_of)
  if not stored or not match then return stored or match end
  return tonumber(match.version) > tonumber(stored.version) and match or stored
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
    local seats = parse_terms(match.terms).seats
    if seats > 0 then match.open = int(math.max(0, math.min(tonumber(match.open) + #match.players - #rest, seats - #rest))) end
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
