-- throttle: a world forms at most so many matches in any second, over all instances. Counted by tenths of a second,
-- of which any second touches eleven. Needs prelude.
local TENTHS = 11
local throttle = {slots = {}, used = 0}

-- may_form is how many matches may be formed now, and when the next may where that is none.
local function may_form(world, per_second)
  if per_second == 0 then return 1000, 0 end
  local now_slot = math.floor(now_ms / 100)
  local oldest
  for slot, count in string.gmatch(redis.call('GET', prefix .. 'mr:' .. world) or '', '(%d+):(%d+)') do
    slot = tonumber(slot)
    if slot > now_slot - TENTHS and slot <= now_slot then
      throttle.slots[slot] = tonumber(count)
      throttle.used = throttle.used + count
      if not oldest or slot < oldest then oldest = slot end
    end
  end
  local left = math.max(0, per_second - throttle.used)
  return left, left == 0 and (oldest + TENTHS) * 100 or 0
end

local function count_throttled(world, per_second, formed_now)
  if per_second == 0 or formed_now == 0 then return end
  local now_slot, parts = math.floor(now_ms / 100), {}
  throttle.slots[now_slot] = (throttle.slots[now_slot] or 0) + formed_now
  for slot, count in pairs(throttle.slots) do
    parts[#parts + 1] = int(slot) .. ':' .. int(count)
  end
  table.sort(parts)
  redis.call('SET', prefix .. 'mr:' .. world, table.concat(parts, ';'), 'PX', 2000)
end
