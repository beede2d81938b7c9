-- end_match: a match is over for everybody whose record still names it; who was in it is told.
-- kind is match_ended or match_cancelled. Needs writes, tell and match_record.
local ended_matches = {}
local function end_match(id, match, kind, reason)
  preload(match.players)
  local keys = {}
  for i, player in ipairs(match.players) do
    keys[i] = prefix .. 'pr:' .. player
  end
  local presences = redis.call('MGET', unpack(keys))
  for i, player in ipairs(match.players) do
    local record = load(player)
    if record.match == id then
      record.match, record.ends, record.acked = '', '', ''
      save(player)
      tell_player(player, parse_presence(presences[i]), note(player, kind, match.world, id, reason))
    end
  end
  ended_matches[#ended_matches + 1] = id
  count_open(match.world, -1)
  redis.call('XADD', prefix .. 'st', 'MAXLEN', '~', '10000', '*', 'event', kind, 'match', id, 'reason', reason)
end

local function flush_matches()
  if #ended_matches > 0 then
    redis.call('HDEL', prefix .. 'm', unpack(ended_matches))
    redis.call('ZREM', prefix .. 'mx', unpack(ended_matches))
  end
end
