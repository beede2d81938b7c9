-- allocator_backoff: a world whose matches get no server forms none for a while, longer with each time: else the
-- same players would be put together and sent back as fast as the allocator says no. Needs prelude.
local PAUSE_MS, PAUSE_MAX_MS, PAUSE_FORGOTTEN_MS = 500, 15000, 60000

-- paused_until_ms is until when a world forms no matches that need a server; 0 where it may.
local function paused_until_ms(world)
  local until_ms = string.match(redis.call('GET', prefix .. 'af:' .. world) or '', '^%d+|(%d+)$')
  until_ms = tonumber(until_ms or '0')
  return until_ms > now_ms and until_ms <= now_ms + PAUSE_MAX_MS and until_ms or 0
end

-- pause_allocator starts a pause, twice as long as the last. What fails while a pause lasts was asked before it: matches that
-- fail together are one failure.
local function pause_allocator(world)
  if paused_until_ms(world) > 0 then return end
  local failures = tonumber(string.match(redis.call('GET', prefix .. 'af:' .. world) or '0', '^%d+'))
  local pause_ms = math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ^ math.min(failures, 10))
  write_last('SET', prefix .. 'af:' .. world, int(failures + 1) .. '|' .. int(now_ms + pause_ms), 'PX', PAUSE_FORGOTTEN_MS)
end
