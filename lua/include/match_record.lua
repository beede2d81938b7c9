-- match_record: a match as a table and as text: state|version|epoch|world|created|ends|rooms|players|left.
local function split(text)
  local list = {}
  for item in string.gmatch(text, '[^;]+') do
    list[#list + 1] = item
  end
  return list
end

local function parse_match(text)
  local state, version, formed_in, world, created, ends, rooms, players, left =
    string.match(text, '^([^|]*)|(%d+)|(%d+)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]*)$')
  return {state = state, version = version, epoch = formed_in, world = world, created = created, ends = ends,
    rooms = rooms, players = split(players), left = split(left)}
end

local function format_match(match)
  return table.concat({match.state, match.version, match.epoch, match.world, match.created, match.ends,
    match.rooms, table.concat(match.players, ';'), table.concat(match.left, ';')}, '|')
end

local function has_left(match, player)
  for _, left in ipairs(match.left) do
    if left == player then return true end
  end
  return false
end

-- count_open keeps how many matches of a world are open. A world that is gone has no counts; but where no
-- world is declared a lost history took them all, and they will be again.
local function count_open(world, by)
  local key = prefix .. 'ws:' .. world
  if redis.call('EXISTS', key) == 1 or redis.call('HEXISTS', prefix .. 'w', world) == 1
    or redis.call('EXISTS', prefix .. 'w') == 0 then
    redis.call('HINCRBY', key, 'open', by)
  end
end
