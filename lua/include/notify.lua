-- notify: what the instances that hold the players are told, one numbered publish an instance and call.
-- The caller's own part comes back in its reply, numbered like the others, so that a lost reply is a
-- gap like a lost publish.
-- @include presence
local told, told_matches = {}, {}

local function lines_for(instance)
  local lines = told[instance]
  if not lines then
    lines = {}
    told[instance] = lines
  end
  return lines
end

local function tell(instance, line)
  local lines = lines_for(instance)
  lines[#lines + 1] = line
end

-- tell_self counts a change that the reply itself tells of: should the reply be lost, or the call be carried
-- out late, the caller finds the gap.
local function tell_self()
  lines_for(self)
end

-- tell_player sends a player's new record, with the note that goes with it, to where its session is.
local function tell_player(player, presence, notice)
  if presence.state == 'L' then
    local line = 'P ' .. player .. ' ' .. presence.generation .. ' ' .. format_record(load(player))
    if notice then line = line .. ' ' .. notice end
    tell(presence.instance, line)
  end
end

-- tell_of_request makes known what a player's own request changed: to the session that sent it by the reply, to the
-- player's session by a line where the request came without one, over HTTP.
local function tell_of_request(player, presence, generation)
  if generation == '' then
    tell_player(player, presence)
  else
    tell_self()
  end
end

-- tell_match sends a match once to each instance that is told of it: as it stands in the end.
local function tell_match(instance, id, text)
  local lines, seen = lines_for(instance), told_matches[id]
  if not seen then
    seen = {}
    told_matches[id] = seen
  end
  local at = seen[instance]
  if not at then
    at = #lines + 1
    seen[instance] = at
  end
  lines[at] = 'M ' .. id .. ' ' .. text
end

-- tell_all publishes and returns the caller's own part, or ''.
local function tell_all()
  local own = ''
  for instance, lines in pairs(told) do
    local number = redis.call('HINCRBY', prefix .. 'pub', instance, 1)
    local text = int(number) .. ' ' .. epoch .. '\n' .. table.concat(lines, '\n')
    if instance == self then
      own = text
    else
      redis.call('PUBLISH', prefix .. 'i:' .. instance, text)
    end
  end
  return own
end
