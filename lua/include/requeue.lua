-- requeue: a player's waiting tickets return to their places, unless a match holds them; those of a world that
-- closed meanwhile end. Needs writes, tell, end_ticket and worlds.
local pokes = {}
local function put_back(player, presence)
  local closed = {}
  away[player] = false
  if is_bound(load(player)) then return end
  for _, t in ipairs(load(player).tickets) do
    if is_waiting(t) then
      if world_is_open(t.world) then
        queue_set(t.world, t.n, player, t.place)
        pokes[t.world] = true
      else
        closed[#closed + 1] = t.world
      end
    end
  end
  for _, world in ipairs(closed) do
    end_ticket(player, world, 'world_closed', presence)
  end
end

-- worlds_to_poke are those that may have enough now, joined by ;.
local function worlds_to_poke()
  local list = {}
  for world in pairs(pokes) do
    list[#list + 1] = world
  end
  table.sort(list)
  return table.concat(list, ';')
end
