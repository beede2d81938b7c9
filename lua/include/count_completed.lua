-- count_completed counts matches in all and open ones, keeps by minute how long they took to form, and writes
-- the mean of the last ten. waits is minute,n,ms of this minute and n,ms of those before it; older has these
-- one by one, and is only touched where a minute ends.
local WAIT_MINUTES = 10

-- end_minute puts a minute with those before it, and returns how many matches those have that still count, and their
-- waits.
local function end_minute(key, current, ended)
  local rest, n, ms, older = {}, 0, 0, redis.call('HGET', key, 'older') or ''
  for text in string.gmatch(ended .. ';' .. older, '[^;]+') do
    local at, matches, waits = string.match(text, '^(%d+),(%d+),(%d+)$')
    if tonumber(at) > current - WAIT_MINUTES and tonumber(at) < current then
      rest[#rest + 1], n, ms = text, n + matches, ms + waits
    end
  end
  rest = table.concat(rest, ';')
  if rest ~= older then redis.call('HSET', key, 'older', rest) end
  return n, ms
end

local function count_completed(world, completed, wait_ms)
  local key, current = prefix .. 'ws:' .. world, math.floor(now_ms / 60000)
  local values = redis.call('HMGET', key, 'total', 'open', 'waits')
  local at, n, ms, older_n, older_ms = string.match(values[3] or '0,0,0,0,0', '^(%d+),(%d+),(%d+),(%d+),(%d+)$')
  if tonumber(at) ~= current then
    older_n, older_ms = end_minute(key, current, at .. ',' .. n .. ',' .. ms)
    n, ms = 0, 0
  end
  n, ms = n + completed, ms + wait_ms
  redis.call('HSET', key, 'total', int((values[1] or 0) + completed), 'open', int((values[2] or 0) + completed),
    'mean', int((ms + older_ms) / (n + older_n)) .. ',' .. now_text,
    'waits', int(current) .. ',' .. int(n) .. ',' .. int(ms) .. ',' .. int(older_n) .. ',' .. int(older_ms))
end
