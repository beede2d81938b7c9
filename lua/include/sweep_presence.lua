-- sweep_presence: who is no longer there.
-- park_silent parks the players of an instance whose lease ended, as far as the limit goes, and forgets the
-- instance with its last player. They were not live since the lease ended; now they are in nobody's way.
local function park_silent()
  local silent = redis.call('ZRANGEBYSCORE', prefix .. 'ins', '-inf', int(now_ms), 'LIMIT', 0, 1)[1]
  if not silent then return end
  local set = prefix .. 'ip:' .. silent
  local players = redis.call('SRANDMEMBER', set, limit)
  if #players > 0 then
    preload(players)
    for i, presence in ipairs(presences_of(players)) do
      local player = players[i]
      if presence.state == 'L' and presence.instance == silent then
        park(player, int(now_ms + presence_ttl_ms + drain_ms))
        redis.call('SET', prefix .. 'pr:' .. player, 'A|' .. presence.epoch .. '|' .. silent .. '|' .. presence.generation,
          'PX', int(2 * presence_ttl_ms + drain_ms))
        parked = parked + 1
      elseif presence.state == '' and (waits(player) or has_seat(load(player))) then
        -- Its presence ran out before anybody looked: all instances were down, or the lease is longer.
        park(player, int(now_ms + presence_ttl_ms + drain_ms))
        parked = parked + 1
      end
    end
    redis.call('SREM', set, unpack(players))
  end
  if #players < limit then
    redis.call('ZREM', prefix .. 'ins', silent)
    redis.call('HDEL', prefix .. 'pub', silent)
  end
  more = 1
end

-- evict_gone ends the tickets of those whose grace has passed. Who waits by HTTP heartbeats has its next
-- deadline in the same index. Who is live was parked while its instance was silent, and was not brought back.
local function evict_gone()
  local players = redis.call('ZRANGEBYSCORE', prefix .. 'aw', '-inf', int(now_ms), 'LIMIT', 0, limit)
  if #players == 0 then return end
  preload(players)
  for i, presence in ipairs(presences_of(players)) do
    local player = players[i]
    away[player] = false
    if is_live(presence) then
      put_back(player, presence)
    else
      end_ticket(player, nil, 'presence_lost', presence)
      release_seat(player, presence)
      redis.call('DEL', prefix .. 'pr:' .. player)
      gone = gone + 1
    end
  end
  if #players == limit then more = 1 end
end
