-- restore_match: a match that an assertion names is there again, for all that nothing newer stands for.
-- Needs writes, tell, match_record, end_match and asserted_matches.

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
local function rejoin(player, id, match)
  local record = load(player)
  -- Since the match was formed, not since it was last changed: others may have left it in this epoch.
  if record.match == id or has_left(match, player) or is_newer(record, match.created) then return end
  take_out(player)
  record.match, record.ends, record.acked = id, match.ends, ''
  local presence = parse_presence(redis.call('GET', prefix .. 'pr:' .. player))
  -- Whose session has spoken in this epoch is to take this for news; the assertion of any other still wins
  -- where it knows of more than the match.
  save(player, presence.epoch ~= epoch and match.created or nil)
  keep(player)
  if presence.state == 'L' then tell_match(presence.instance, id, format_match(match)) end
  tell_player(player, presence)
end

local settled = {}
local function restore_match(player, id)
  if id == '' or settled[id] then return end
  local stored, told_of = redis.call('HGET', prefix .. 'm', id), asserted_matches[id]
  if not stored and not told_of then
    kept[player] = int(now_ms + presence_ttl_ms) -- unless another instance brings it, the sweep cancels it then
    return
  end
  settled[id] = true
  local match = parse_match(stored or told_of)
  if stored and told_of and tonumber(parse_match(told_of).version) > tonumber(match.version) then
    match = parse_match(told_of) -- somebody had left it
  end
  preload(match.players)
  for _, player in ipairs(match.players) do
    if not has_left(match, player) and taken_since(player, id) then
      if not stored then count_open(match.world, 1) end
      end_match(id, match, 'match_cancelled', 'lost')
      return
    end
  end
  if not stored then
    count_open(match.world, 1)
    redis.call('ZADD', prefix .. 'mx', match.ends, id)
  end
  redis.call('HSET', prefix .. 'm', id, format_match(match))
  for _, player in ipairs(match.players) do
    rejoin(player, id, match)
  end
end
