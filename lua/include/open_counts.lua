-- open_counts: how many matches of each world are open.
local open_changes = {}

-- count_open keeps how many matches of a world are open.
local function count_open(world, by)
  open_changes[world] = (open_changes[world] or 0) + by
end

-- flush_open_changes writes them. A world that is gone has no counts; but where no world is declared a lost history took
-- them all, and they will be again.
local function flush_open_changes()
  for world, by in pairs(open_changes) do
    local key = prefix .. 'ws:' .. world
    if by ~= 0 and (redis.call('EXISTS', key) == 1 or redis.call('HEXISTS', prefix .. 'w', world) == 1
      or redis.call('EXISTS', prefix .. 'w') == 0) then
      redis.call('HINCRBY', key, 'open', by)
    end
  end
end
