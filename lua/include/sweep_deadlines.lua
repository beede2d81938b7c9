-- sweep_deadlines: what has reached its time. PLAYERS_MAX bounds what the matches of one call may touch.
local PLAYERS_MAX = 200

-- expire_match ends a match whose time has passed. Who was shown a prompt and did not answer is out; a prompt that was
-- never shown is nobody's fault.
local function expire_match(id, match)
  if match.state == 'complete' then
    end_match(id, match, 'match_ended', 'expired')
  elseif match.state == 'allocating' then
    cancel_match(id, match, 'allocation_failed', {})
  else
    local out = {}
    for _, player in ipairs(match.shown) do
      out[player] = not is_one_of(match.accepted, player)
    end
    cancel_match(id, match, 'timeout', out)
  end
end

local function expire_matches()
  local ids, touched = redis.call('ZRANGEBYSCORE', prefix .. 'mx', '-inf', int(now_ms), 'LIMIT', 0, limit), 0
  for _, id in ipairs(ids) do
    if touched >= PLAYERS_MAX then break end
    local match = match_of(id)
    if match then
      touched = touched + #match.players
      expire_match(id, match)
      matches_expired = matches_expired + 1
    else
      match_ends[id] = false
    end
  end
  if #ids == limit or touched >= PLAYERS_MAX then more = 1 end
end

-- end_heads ends the tickets at a queue's head up to a place.
local function end_heads(world, up_to, reason)
  local players = redis.call('ZRANGEBYSCORE', prefix .. 'q:' .. world .. ':1', '-inf', up_to, 'LIMIT', 0, limit)
  if #players == 0 then return 0 end
  preload(players)
  for i, presence in ipairs(presences_of(players)) do
    local t = ticket_in(load(players[i]), world)
    if t and is_waiting(t) then
      end_ticket(players[i], world, reason, presence)
    else
      queue_set(world, '1', players[i], false)
    end
  end
  if #players == limit then more = 1 end
  return #players
end

local function expire_tickets(world, ttl_ms)
  tickets_expired = tickets_expired + end_heads(world, int(now_us - ttl_ms * 1000), 'expired')
end

-- empty_closing ends what waits in closing worlds and forgets those that are empty. Tickets of players who
-- are away end when they return or are gone.
local function empty_closing()
  for _, world in ipairs(redis.call('HKEYS', prefix .. 'w')) do
    local state = string.match(redis.call('HGET', prefix .. 'w', world), '^%d+|(%a+)|')
    if state ~= 'open' then
      local ended = end_heads(world, '+inf', 'world_closed')
      if ended == 0 and state == 'closing' then
        redis.call('HDEL', prefix .. 'w', world)
        redis.call('HDEL', prefix .. 'wc', world)
        redis.call('HDEL', prefix .. 'wt', world)
        redis.call('DEL', prefix .. 'ws:' .. world)
        open_changes[world] = nil
      end
    end
  end
end

-- is_due lets one instance a tick look whether a world's queue has enough.
local function is_due(world, tick_ms, size)
  if not world_is_open(world) then return false end
  local ticked_ms = tonumber(redis.call('HGET', prefix .. 'wt', world) or '0')
  if math.abs(now_ms - ticked_ms) < tick_ms then return false end
  redis.call('HSET', prefix .. 'wt', world, int(now_ms))
  return redis.call('ZCARD', prefix .. 'q:' .. world .. ':1') >= size
end

-- cancel_lost frees a player from a match that nobody brought back after a loss of history.
local function cancel_lost(player)
  local id = load(player).match
  if id ~= '' and not match_of(id) then free_lost(player, id) end
end

-- forget_records drops ended tickets that need not be remembered, and records that then say nothing.
local function forget_records()
  local players = redis.call('ZRANGEBYSCORE', prefix .. 'kp', '-inf', int(now_ms), 'LIMIT', 0, limit)
  if #players == 0 then return end
  preload(players)
  for _, player in ipairs(players) do
    if kept[player] == nil then
      local record, rest = load(player), {}
      kept[player] = false
      for _, t in ipairs(record.tickets) do
        local until_ms = tonumber(t.ended) and t.ended + KEPT_MS
        if is_waiting(t) or until_ms > now_ms then rest[#rest + 1] = t end
        -- Redis' clock may have stepped back since it ended.
        if until_ms and until_ms > now_ms then kept[player] = math.max(kept[player] or 0, until_ms) end
      end
      record.tickets = rest
      save(player, record.version) -- nothing that anybody was told has changed
      cancel_lost(player)
    end
  end
  if #players == limit then more = 1 end
end
