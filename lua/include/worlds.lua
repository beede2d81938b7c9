-- worlds: what instances declared: w has world → revision|state|hash; a world that is not there is closed,
-- unless none is: then a lost history took them all, and assertions may come before the declaration.
local world_states = {}
local function world_is_open(world)
  if world_states[world] == nil then
    local text = redis.call('HGET', prefix .. 'w', world)
    if text then
      world_states[world] = string.match(text, '^%d+|(%a+)|')
    else
      world_states[world] = redis.call('EXISTS', prefix .. 'w') == 0 and 'open' or 'unknown'
    end
  end
  return world_states[world] == 'open'
end

-- world_check is 0 where the caller serves the world as it is, or the code that says why not.
local function world_check(world, revision)
  local text = redis.call('HGET', prefix .. 'w', world)
  if not text then return CODE_UNKNOWN_WORLD end
  local current, state = string.match(text, '^(%d+)|(%a+)|')
  if current ~= revision then return CODE_STALE_REVISION end
  if state == 'closing' then return CODE_UNKNOWN_WORLD end
  if state ~= 'open' then return CODE_WORLD_CLOSED end
  return 0
end
