-- sweep_worlds: worlds' queues: tickets that are too old, worlds that are closed, and worlds that may have enough for a match.
local all_worlds, ticked = {}, {}

-- load_worlds reads the states of all worlds, and when the served ones were last looked at.
local function load_worlds(served, names)
  local fields = redis.call('HGETALL', prefix .. 'w')
  for i = 1, #fields, 2 do
    world_states[fields[i]] = string.match(fields[i + 1], '^%d+|(%a+)|')
    all_worlds[#all_worlds + 1] = fields[i]
  end
  for i, at in ipairs(read_many('HMGET', prefix .. 'wt', names)) do
    ticked[names[i]] = tonumber(at or '0')
  end
end

-- serves_all reports whether the caller serves all worlds that are open.
local function serves_all(served)
  for _, world in ipairs(all_worlds) do
    if world_states[world] == 'open' and not served[world] then return false end
  end
  return true
end

-- end_heads ends the tickets at a queue's head up to a place, and returns how many it looked at.
local function end_heads(world, up_to, reason)
  local players = due_members(prefix .. 'q:' .. world .. ':1', up_to)
  preload(players)
  for i, presence in ipairs(presences_of(players)) do
    afford(1)
    local t = ticket_in(load(players[i]), world)
    if t and is_waiting(t) then
      end_ticket(players[i], world, reason, presence)
    else
      queue_set(world, '1', players[i], false)
    end
  end
  return #players
end

local function expire_tickets(world, ttl_ms)
  tickets_expired = tickets_expired + end_heads(world, int(now_us - ttl_ms * 1000), 'expired')
end

-- empty_world ends what waits in a world that is not open, and forgets one on its way out that is empty, its counts only if no
-- match is open. Tickets of players who are away end when they return or are gone.
local function empty_world(world)
  if end_heads(world, '+inf', 'world_closed') > 0 or world_states[world] ~= 'closing' then return end
  write_last('HDEL', prefix .. 'w', world)
  write_last('HDEL', prefix .. 'wc', world)
  write_last('HDEL', prefix .. 'wt', world)
  local stats = prefix .. 'ws:' .. world
  if tonumber(redis.call('HGET', stats, 'open') or '0') + (open_changes[world] or 0) <= 0 then
    write_last('DEL', stats)
    open_changes[world] = nil
  end
end

-- add_world_turns gives each world its turn, but nothing ends by time while it is calm.
local function add_world_turns(served)
  for name, world in pairs(served) do
    if not calm and (world_states[name] == nil or world_states[name] == 'open') then
      add_turn('world ' .. name, function() expire_tickets(name, world.ttl_ms) end)
    end
  end
  for _, name in ipairs(all_worlds) do
    if world_states[name] ~= 'open' then
      add_turn('world ' .. name, function() empty_world(name) end)
    end
  end
end

-- is_due reports whether a world's queue has enough players, or an open seat may take one of them by now.
local function is_due(name, size)
  local waiting = redis.call('ZCARD', prefix .. 'q:' .. name .. ':1')
  return waiting >= size or waiting > 0 and redis.call('EXISTS', prefix .. 'op:' .. name) == 1
end

-- due_worlds are the served worlds that are due. Each is looked at by one instance a tick.
local function due_worlds(served, names)
  local due, looked_at = {}, {}
  for _, name in ipairs(names) do
    local world = served[name]
    if world_is_open(name) and math.abs(now_ms - ticked[name]) >= world.tick_ms then
      looked_at[#looked_at + 1] = name
      looked_at[#looked_at + 1] = now_text
      if is_due(name, world.size) then due[#due + 1] = name end
    end
  end
  return due, looked_at
end
