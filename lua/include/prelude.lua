-- prelude: refuses a call of another history before anything is written, gives out places, and
-- notices that time has passed in which nobody spoke: then it is calm, and nothing may end by time.
-- @include time
-- @include replication_id
-- @include parts
local meta = redis.call('HMGET', meta_key, 'epoch', 'history', 'ready_at', 'last', 'touched', 'calm_until', 'journal', 'ahead')
if meta[1] ~= epoch or meta[2] ~= history() then
  return {CODE_LOST_HISTORY, meta[1] or ''}
end
local touched_ms, before_us = tonumber(meta[5]), tonumber(meta[8] or '0')
local was_silent = continue_time(touched_ms, before_us)
-- What was held up on its way must not undo what was asked after it.
if late_after_us > 0 and now_us > late_after_us then return {CODE_TOO_LATE, '', now_text} end
local ready_at_ms, last, calm_until_ms = tonumber(meta[3]), tonumber(meta[4]), tonumber(meta[6])
local is_read = meta[7] == '1' -- somebody reads the stream
if was_silent then calm_until_ms = now_ms + presence_ttl_ms end
-- A bound further away than it can have been set is of a realm whose time was set back by hand. An epoch opens after
-- redis.recovery, which is a minute at most.
local RECOVERY_MAX_MS = 60000
local closed = ready_at_ms > now_ms and ready_at_ms <= now_ms + RECOVERY_MAX_MS
local calm = calm_until_ms > now_ms and calm_until_ms <= now_ms + presence_ttl_ms

-- next_place gives out the next of the realm's numbers.
local function next_place()
  last = last + 1
  if last < now_us then last = now_us end
  return int(last)
end

-- write_last has a command run when all that may fail is done. The script does not read what it writes.
local last_writes = {}
local function write_last(...)
  last_writes[#last_writes + 1] = {...}
end

-- tickets_ended counts the tickets that this call ended without a match and without being asked, by reason.
local tickets_ended = {}

-- finish writes what is to be written last and what the prelude learned, and adds the counts of ended tickets to the
-- caller's own part; every reply after the prelude passes through it.
local function finish(reply)
  local counts = ''
  for reason, tickets in pairs(tickets_ended) do
    counts = counts .. ' ' .. reason .. ' ' .. int(tickets)
  end
  if counts ~= '' then reply[2] = reply[2] .. '\n#' .. counts end
  for _, write in ipairs(last_writes) do
    redis.call(unpack(write))
  end
  redis.call('HSET', meta_key, 'last', int(last), 'touched', now_text, 'calm_until', int(calm_until_ms))
  if ahead_us ~= before_us then redis.call('HSET', meta_key, 'ahead', int(ahead_us)) end
  return reply
end

-- What follows is a function of its own, as it is behind match. Where a function is made, each local that it uses is
-- looked for among all that others use, the last declared first, and those above are what most use: from within a
-- function inside theirs they need not be looked for.
-- @inner
