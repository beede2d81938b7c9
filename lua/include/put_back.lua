-- put_back: a player's waiting tickets return to their places, unless a match holds them; those of a world that
-- closed meanwhile end. Returns the worlds, which may now have enough. Needs writes, tell, end_ticket and worlds.
local function put_back(player, presence)
  local worlds, closed = {}, {}
  away[player] = false
  if is_bound(load(player)) then return worlds end
  for _, t in ipairs(load(player).tickets) do
    if is_waiting(t) then
      if world_is_open(t.world) then
        queue_set(t.world, t.n, player, t.place)
        worlds[#worlds + 1] = t.world
      else
        closed[#closed + 1] = t.world
      end
    end
  end
  for _, world in ipairs(closed) do
    end_ticket(player, world, 'world_closed', presence)
  end
  return worlds
end
