-- count_completed counts matches in all and open ones, keeps by minute how long they took to form, and writes
-- the mean of the last ten.
local WAIT_MINUTES = 10
local function count_completed(world, completed, wait_ms)
  local key, minute = prefix .. 'ws:' .. world, math.floor(now_ms / 60000)
  local fields = {'total', 'open'}
  for i = 0, WAIT_MINUTES - 1 do
    fields[i + 3] = 'b' .. i
  end
  local values = redis.call('HMGET', key, unpack(fields))
  local slot = minute % WAIT_MINUTES
  local count, sum, current = completed, wait_ms, nil
  for i = 0, WAIT_MINUTES - 1 do
    local at, n, ms = string.match(values[i + 3] or '', '^(%d+),(%d+),(%d+)$')
    if at and tonumber(at) > minute - WAIT_MINUTES and tonumber(at) <= minute then
      count, sum = count + n, sum + ms
      if i == slot then current = {n = n, ms = ms} end
    end
  end
  current = current or {n = 0, ms = 0}
  redis.call('HSET', key, 'total', int((values[1] or 0) + completed), 'open', int((values[2] or 0) + completed),
    'mean', int(sum / count) .. ',' .. int(now_ms),
    'b' .. slot, int(minute) .. ',' .. int(current.n + completed) .. ',' .. int(current.ms + wait_ms))
end
