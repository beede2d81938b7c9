-- form_match: takes the players' tickets out of all worlds, writes the match and each player's record,
-- and tells the instances that hold them. Needs writes, tell and match_record.
local formed, formed_players, formed_wait_ms = {}, 0, 0
local matches_set, deadlines = {}, {}

local function form_match(world, id, rooms, members, hold_ms)
  local names, version, created = {}, nil, next_place()
  for i, member in ipairs(members) do
    names[i] = member.player
    take_out(member.player)
    version = next_place()
    local record = load(member.player)
    record.match, record.ends, record.acked = id, int(now_ms + hold_ms), ''
    save(member.player, version)
  end
  local text = format_match({state = 'complete', version = created, epoch = epoch, world = world, created = created,
    ends = int(now_ms + hold_ms), rooms = rooms, players = names, left = {}})
  for _, member in ipairs(members) do
    if member.presence.state == 'L' then tell_match(member.presence.instance, id, text) end
    tell_player(member.player, member.presence)
  end
  matches_set[#matches_set + 1] = id
  matches_set[#matches_set + 1] = text
  deadlines[id] = int(now_ms + hold_ms)
  formed[#formed + 1] = id
  formed_players = formed_players + #members
  formed_wait_ms = formed_wait_ms + math.max(0, now_ms - math.floor(tonumber(members[1].place) / 1000))
  redis.call('XADD', prefix .. 'st', 'MAXLEN', '~', '10000', '*', 'event', 'match_complete', 'match', id, 'record', text)
end

-- unused_ids drops the ids that exist: a call that was sent again made its matches the first time.
local function unused_ids(first, count)
  local ids, fresh = {}, {}
  if count == 0 then return fresh end
  for i = 1, count do
    ids[i] = ARGV[first + i * 2 - 2]
  end
  local existing = redis.call('HMGET', prefix .. 'm', unpack(ids))
  for i, id in ipairs(ids) do
    if not existing[i] then
      fresh[#fresh + 1] = {id = id, rooms = ARGV[first + i * 2 - 1]}
    end
  end
  return fresh
end

-- count_formed counts matches in all and open ones, keeps by minute how long they took to form, and writes
-- the mean of the last ten.
local WAIT_MINUTES = 10
local function count_formed(world)
  local key, minute = prefix .. 'ws:' .. world, math.floor(now_ms / 60000)
  local fields = {'total', 'open'}
  for i = 0, WAIT_MINUTES - 1 do
    fields[i + 3] = 'b' .. i
  end
  local values = redis.call('HMGET', key, unpack(fields))
  local slot = minute % WAIT_MINUTES
  local count, sum, current = #formed, formed_wait_ms, nil
  for i = 0, WAIT_MINUTES - 1 do
    local at, n, ms = string.match(values[i + 3] or '', '^(%d+),(%d+),(%d+)$')
    if at and tonumber(at) > minute - WAIT_MINUTES and tonumber(at) <= minute then
      count, sum = count + n, sum + ms
      if i == slot then current = {n = n, ms = ms} end
    end
  end
  current = current or {n = 0, ms = 0}
  redis.call('HSET', key, 'total', int((values[1] or 0) + #formed), 'open', int((values[2] or 0) + #formed),
    'mean', int(sum / count) .. ',' .. int(now_ms),
    'b' .. slot, int(minute) .. ',' .. int(current.n + #formed) .. ',' .. int(current.ms + formed_wait_ms))
end

local function flush_formed(world)
  if #formed > 0 then
    redis.call('HSET', prefix .. 'm', unpack(matches_set))
    flush_scores(prefix .. 'mx', deadlines)
    count_formed(world)
  end
end
