-- open_counts: how many matches of each world are open.
local open_changes = {}

-- count_open keeps how many matches of a world are open.
local function count_open(world, by)
  open_changes[world] = (open_changes[world] or 0) + by
end

-- is_declared reports whether the realm has a world. Where no world is declared a lost history took them all, and they will
-- be again.
local function is_declared(world)
  return redis.call('HEXISTS', prefix .. 'w', world) == 1 or redis.call('EXISTS', prefix .. 'w') == 0
end

-- flush_open_changes writes them. The counts of a world that is gone go with its last match. None is below 0: an older version
-- forgot counts while matches were open.
local function flush_open_changes()
  for world, by in pairs(open_changes) do
    local key = prefix .. 'ws:' .. world
    if by ~= 0 and redis.call('HINCRBY', key, 'open', by) <= 0 then
      if is_declared(world) then
        redis.call('HSET', key, 'open', '0')
      else
        redis.call('DEL', key)
      end
    end
  end
end
