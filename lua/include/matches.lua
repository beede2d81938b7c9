-- matches: what a script is going to write of matches; see writes. Needs writes, tell, match_record and stream.
-- ALLOCATING_MAX_MS is how long a match may wait for its server: longer than all attempts of any allocator.
local ALLOCATING_MAX_MS = 600000
local loaded_matches, match_texts, match_ends, open_rooms, allocations, attempts_over, requeued = {}, {}, {}, {}, {}, {}, {}
local open_changes, news, is_news = {}, {}, {}

-- match_of is a match as this script has it so far; nothing where there is none.
local function match_of(id)
  if loaded_matches[id] == nil then
    local text = redis.call('HGET', prefix .. 'm', id)
    loaded_matches[id] = text and parse_match(text) or false
  end
  return loaded_matches[id] or nil
end

-- preload_matches reads many matches at once.
local function preload_matches(ids)
  if #ids == 0 then return end
  local texts = redis.call('HMGET', prefix .. 'm', unpack(ids))
  for i = 1, #ids do
    loaded_matches[ids[i]] = texts[i] and parse_match(texts[i]) or false
  end
end

-- index_match has it found by what it waits for: open seats, a server.
local function index_match(id, match, gone)
  if match.open ~= '' then
    local key = prefix .. 'op:' .. match.world
    open_rooms[key] = open_rooms[key] or {}
    open_rooms[key][id] = not gone and not is_held(match) and tonumber(match.open) > 0 and match.open or false
  end
  if match.terms ~= '' and parse_terms(match.terms).allocate then
    local asks = not gone and match.state == 'allocating'
    allocations[id] = asks and int(now_ms)
    if not asks then attempts_over[#attempts_over + 1] = id end
  end
end

-- store_match has the match written, and returns its text.
local function store_match(id, match)
  local text = format_match(match)
  loaded_matches[id], match_texts[id], match_ends[id] = match, text, match.ends
  index_match(id, match, false)
  return text
end

local function forget_match(id, match)
  loaded_matches[id], match_texts[id], match_ends[id] = false, false, false
  index_match(id, match, true)
end

-- tell_members tells the instances of those in a match how it stands, and returns who is where.
local function tell_members(id, match, text)
  local presences = presences_of(match.players)
  for i, presence in ipairs(presences) do
    if presence.state == 'L' and not has_left(match, match.players[i]) then tell_match(presence.instance, id, text) end
  end
  return presences
end

-- tell_change has a match told to its players' instances as it stands when all is done, unless it is over by then.
local function tell_change(id)
  if not is_news[id] then news[#news + 1], is_news[id] = id, true end
end

local function tell_changes()
  local players, ids = {}, {}
  for _, id in ipairs(news) do
    local match = loaded_matches[id]
    for _, player in ipairs(match and match.players or {}) do
      if not has_left(match, player) then players[#players + 1], ids[#ids + 1] = player, id end
    end
  end
  if #players == 0 then return end
  for i, presence in ipairs(presences_of(players)) do
    if presence.state == 'L' then tell_match(presence.instance, ids[i], match_texts[ids[i]]) end
  end
end

-- count_open keeps how many matches of a world are open.
local function count_open(world, by)
  open_changes[world] = (open_changes[world] or 0) + by
end

-- A world that is gone has no counts; but where no world is declared a lost history took them all, and they will be again.
local function flush_open_changes()
  for world, by in pairs(open_changes) do
    local key = prefix .. 'ws:' .. world
    if by ~= 0 and (redis.call('EXISTS', key) == 1 or redis.call('HEXISTS', prefix .. 'w', world) == 1
      or redis.call('EXISTS', prefix .. 'w') == 0) then
      redis.call('HINCRBY', key, 'open', by)
    end
  end
end

-- first_stage is what a player's record says at first of a match that stands: in one with seats, by when it is to say
-- that it is there.
local function first_stage(player, terms)
  if terms.seats == 0 then return '' end
  if terms.seat_hold_ms > 0 then seat_holds[player] = int(now_ms + terms.seat_hold_ms) end
  return 's'
end

-- bind has a player's record name a match. Of a match that is held the tickets keep their places; otherwise they end.
local function bind(player, id, match, stage, version)
  local held, record = is_held(match), load(player)
  if #record.tickets > 0 then
    if held then unqueue(player) else take_out(player) end
  end
  record.match, record.ends, record.acked = id, match.ends, held and 'h' or stage
  save(player, version)
end

-- unbind has a player's record name no match any more.
local function unbind(record, player)
  if record.acked == 's' then seat_holds[player] = false end
  record.match, record.ends, record.acked = '', '', ''
end

-- tell_requeued tells those who are back at their places where they stand, once that is written.
local function tell_requeued()
  for _, back in ipairs(requeued) do
    local ranks = ranks_of(back.player, load(back.player))
    if ranks ~= '' and back.presence.state == 'L' then
      tell(back.presence.instance, 'Q ' .. back.player .. ' ' .. back.presence.generation .. ' ' .. back.match .. ' ' .. int(now_ms) .. ' ' .. ranks)
    end
  end
end

-- flush_matches writes; flush comes before it.
local function flush_matches()
  local set, gone = {}, {}
  for id, text in pairs(match_texts) do
    if text then
      set[#set + 1] = id
      set[#set + 1] = text
    else
      gone[#gone + 1] = id
    end
  end
  if #set > 0 then redis.call('HSET', prefix .. 'm', unpack(set)) end
  if #gone > 0 then redis.call('HDEL', prefix .. 'm', unpack(gone)) end
  flush_scores(prefix .. 'mx', match_ends)
  for key, rooms in pairs(open_rooms) do
    flush_scores(key, rooms)
  end
  flush_scores(prefix .. 'al', allocations)
  if #attempts_over > 0 then redis.call('HDEL', prefix .. 'an', unpack(attempts_over)) end
  flush_open_changes()
  tell_changes()
  tell_requeued()
end
