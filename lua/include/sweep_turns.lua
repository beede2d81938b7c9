-- sweep_turns: what a sweep has to do, in turns of one kind or one world each, which share the players of a call.
local turns, budget, is_used_up = {}, limit, false

local function add_turn(name, take)
  turns[#turns + 1] = {name = name, take = take}
end

-- afford takes so many players out of the budget, or returns false where they are for the next call. A call whose budget is
-- whole affords any number, so that a match larger than the budget has its turn.
local function afford(count)
  if budget <= 0 or count > budget and budget < limit then
    is_used_up = true
    return false
  end
  budget = budget - count
  return true
end

-- due_members are members of an index whose time has come, no more than the budget has players.
local function due_members(key, up_to)
  return redis.call('ZRANGEBYSCORE', key, '-inf', up_to, 'LIMIT', 0, budget)
end

-- note_turn has the next call go on from a turn, or from any if this one came to an end.
local function note_turn(name)
  if name then
    redis.call('HSET', meta_key, 'sweep_from', name)
  else
    redis.call('HDEL', meta_key, 'sweep_from')
  end
end

-- take_turns goes on from where the last call stopped. If the budget is used up it returns 1 and the name of the turn to go
-- on from: the one that was cut off, or, if that had the whole budget, the one behind it.
local function take_turns(from)
  local first = 1
  table.sort(turns, function(a, b) return a.name < b.name end)
  while first < #turns and turns[first].name < from do
    first = first + 1
  end
  for i = 0, #turns - 1 do
    local turn = turns[(first - 1 + i) % #turns + 1]
    turn.take()
    if is_used_up or budget <= 0 then
      if i == 0 then turn = turns[first % #turns + 1] end
      return 1, turn.name
    end
  end
  return 0
end
