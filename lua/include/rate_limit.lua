-- rate_limit: a world forms at most so many matches within a time, over all instances. They are counted by tenths of that
-- time, of which eleven can touch any span of it. Needs prelude.
-- @include allocator_backoff
local TENTHS = 11
local tenths, used, tenth_ms = {}, 0, 1

-- may_form is how many matches may be formed now, and when the next may where that is none.
local function may_form(world, terms)
  local until_ms = terms.allocate and paused_until_ms(world) or 0
  if until_ms > 0 then return 0, until_ms end
  if terms.at_most == 0 then return 1000, 0 end
  tenth_ms = math.ceil(terms.within_ms / 10)
  local current, oldest = math.floor(now_ms / tenth_ms), nil
  for tenth, count in string.gmatch(redis.call('GET', prefix .. 'mr:' .. world) or '', '(%d+):(%d+)') do
    tenth = tonumber(tenth)
    if tenth > current - TENTHS and tenth <= current then
      tenths[tenth], used = tonumber(count), used + count
      oldest = math.min(oldest or tenth, tenth)
    end
  end
  local left = math.max(0, terms.at_most - used)
  return left, left == 0 and (oldest + TENTHS) * tenth_ms or 0
end

local function count_throttled(world, terms)
  if terms.at_most == 0 or #formed == 0 then return end
  local current, parts = math.floor(now_ms / tenth_ms), {}
  tenths[current] = (tenths[current] or 0) + #formed
  for tenth, count in pairs(tenths) do
    parts[#parts + 1] = int(tenth) .. ':' .. int(count)
  end
  table.sort(parts)
  write_last('SET', prefix .. 'mr:' .. world, table.concat(parts, ';'), 'PX', int(2 * terms.within_ms))
end
