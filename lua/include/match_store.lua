-- match_store: matches as this script has them so far, and what is to be written of them. Needs writes and match_record.
-- ALLOCATING_MAX_MS is how long a match may wait for its server: longer than all attempts of any allocator.
local ALLOCATING_MAX_MS = 600000
local read_texts, loaded_matches, match_texts, match_ends, open_rooms, allocations, attempts_over = {}, {}, {}, {}, {}, {}, {}

-- preload_matches reads the texts of many matches at once.
local function preload_matches(ids)
  local missing = {}
  for i = 1, #ids do
    local id = ids[i]
    if read_texts[id] == nil and loaded_matches[id] == nil then
      missing[#missing + 1], read_texts[id] = id, false
    end
  end
  if #missing == 0 then return end
  local texts = read_many('HMGET', prefix .. 'm', missing)
  for i = 1, #missing do
    read_texts[missing[i]] = texts[i]
  end
end

-- match_of is a match as this script has it so far; nothing where there is none.
local function match_of(id)
  if loaded_matches[id] == nil then
    preload_matches({id})
    local text = read_texts[id]
    loaded_matches[id] = text and parse_match(text) or false
  end
  return loaded_matches[id] or nil
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
