-- presence: who is live by Redis' clock. pr:<player> is state|epoch|instance|generation with the state
-- L (a socket), H (HTTP heartbeats) or A (away).
local own = 'L|' .. epoch .. '|' .. self .. '|'
local function parse_presence(text, expected)
  if not text then
    return {state = '', epoch = '', instance = '', generation = '0'}
  end
  -- Most are live on the caller's instance, and many by the session that asks: that need not be parsed.
  if expected and text == own .. expected then
    return {state = 'L', epoch = epoch, instance = self, generation = expected}
  end
  local at, to = string.find(text, own, 1, true)
  if at == 1 then return {state = 'L', epoch = epoch, instance = self, generation = string.sub(text, to + 1)} end
  local state, seen_in, instance, generation = string.match(text, '^(%a)|(%d+)|([^|]*)|(%d+)$')
  return {state = state, epoch = seen_in, instance = instance, generation = generation}
end

local function format_presence(state, instance, generation)
  return state .. '|' .. epoch .. '|' .. instance .. '|' .. generation
end

-- The score of a good lease lies ahead, but not further than a lease is long: then the realm's time was set back by hand.
local LEASE_MS = 3000
local leases = {}
local function lease_is_good(instance)
  if leases[instance] == nil then
    local deadline_ms = tonumber(redis.call('ZSCORE', prefix .. 'ins', instance) or '0')
    leases[instance] = deadline_ms > now_ms and deadline_ms <= now_ms + LEASE_MS
  end
  return leases[instance]
end

-- is_live reports whether a player of presences_of may be matched. Who lives by heartbeats is live until its deadline in aw,
-- which also has it ended then; its key only collects garbage.
local function is_live(presence)
  if presence.epoch ~= epoch then
    return false
  end
  if presence.state == 'H' then return presence.gone_at_ms > now_ms end
  return presence.state == 'L' and lease_is_good(presence.instance)
end

-- is_older tells whether a session's generation was taken over by the one that the presence names.
-- HTTP calls have none ('').
local function is_older(generation, presence)
  return generation ~= presence.generation and generation ~= '' and tonumber(generation) < tonumber(presence.generation)
end

-- read_deadlines gives presences by heartbeats their deadlines.
local function read_deadlines(players, presences)
  local scores = read_many('ZMSCORE', prefix .. 'aw', players)
  for i = 1, #players do
    presences[i].gone_at_ms = tonumber(scores[i] or '0')
  end
end

-- presences_of reads the presences of players; expected, if given, are the generations that they should have.
local function presences_of(players, expected)
  local keys, pr = {}, prefix .. 'pr:'
  for i = 1, #players do
    keys[i] = pr .. players[i]
  end
  local list = mget(keys)
  local by_heartbeats, theirs = {}, {}
  for i = 1, #players do
    list[i] = parse_presence(list[i], expected and expected[i])
    if list[i].state == 'H' then
      by_heartbeats[#by_heartbeats + 1], theirs[#theirs + 1] = players[i], list[i]
    end
  end
  read_deadlines(by_heartbeats, theirs)
  return list
end
