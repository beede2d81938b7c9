-- form_match: binds players to a new match, which stands at once or is held until they have accepted and it has a
-- server, and tells the instances that hold them. Needs match.
-- @include count_completed
local formed, formed_players, formed_wait_ms, stood = {}, 0, 0, 0
local NOBODY_YET = {}

-- first_state gives a new match its state and its end by the world's terms.
local function first_state(match, terms)
  if terms.accept_ms > 0 then
    match.state, match.ends, match.terms = 'proposed', int(now_ms + terms.accept_ms), terms.text
    match.by = match.ends
  elseif terms.allocate then
    match.state, match.ends, match.terms = 'allocating', int(now_ms + ALLOCATING_MAX_MS), terms.text
  else
    match.state, match.ends = 'complete', int(now_ms + terms.hold_ms)
  end
  if terms.seats > 0 then
    match.open, match.terms, match.taken = int(terms.seats - #match.players), terms.text, '0'
  end
end

local function form_match(world, id, rooms, members, terms)
  local names, created = {}, next_place()
  for i = 1, #members do
    names[i] = members[i].player
  end
  local match = {version = created, epoch = epoch, world = world, created = created, rooms = rooms, players = names, left = NOBODY_YET,
    by = '', accepted = NOBODY_YET, shown = NOBODY_YET, endpoint = '', open = '', terms = '', taken = '', rematch = ''}
  first_state(match, terms)
  local held = is_held(match)
  if held then match.rematch = terms.rematch or '' end
  for i = 1, #members do
    local member = members[i]
    bind_newcomer(member, held)
    bind(member.player, id, match, first_stage(member.player, terms), created)
  end
  local text = store_match(id, match)
  for i = 1, #members do
    local presence = members[i].presence
    if presence.state == 'L' then tell_match(presence.instance, id, text) end
    tell_player(names[i], presence)
  end
  formed[#formed + 1] = id
  formed_players = formed_players + #members
  local wait_ms = math.max(0, now_ms - math.floor(members[1].place / 1000))
  formed_wait_ms = formed_wait_ms + wait_ms
  if held then
    stream_if_read('match_' .. match.state, id, text)
  else
    stood = stood + 1
    stream('match_complete', id, text)
  end
  return match
end

-- unused_ids drops the ids that exist: a call that was sent again made its matches the first time.
local function unused_ids(first, count)
  local ids, fresh = {}, {}
  if count == 0 then return fresh end
  for i = 1, count do
    ids[i] = ARGV[first + i * 2 - 2]
  end
  local existing = read_many('HMGET', prefix .. 'm', ids)
  for i, id in ipairs(ids) do
    if not existing[i] then
      fresh[#fresh + 1] = {id = id, rooms = ARGV[first + i * 2 - 1]}
    end
  end
  return fresh
end

local function count_formed(world)
  if stood > 0 then count_completed(world, stood, formed_wait_ms) end
end
