#!lua flags=allow-oom
-- tidy_groups: notes that a group of the stream is read, and makes it if asked to; drops the groups that nobody has read for
-- long, and says whether the stream is kept for readers.
-- Guarantee:  one step: while a group is left, scripts keep the stream for it. Time in which no instance called this does
--             not count: neither a stop of all instances nor a step of Redis' clock drops a group. It is of no epoch: a
--             stream that begins anew after a loss of history is kept at once. Sent again: changes nothing.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     group      name       the one that the caller reads; '' for none
-- ARGV[6]     ttl_ms     integer    how long a group is kept that nobody reads
-- ARGV[7]     gap_ms     integer    the longest time between two calls that counts
-- ARGV[8]     from       id         of the entry behind which the group begins if it is missing: 0, $; '' = do not make it
-- Returns     {1, '', now_ms, groups dropped}
-- Touches     sg, st
-- Cost        O(groups + entries pending in those that are dropped)
-- @include time
local group, ttl_ms, gap_ms, from = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8]
if from ~= '' then
  local made = redis.pcall('XGROUP', 'CREATE', prefix .. 'st', group, from, 'MKSTREAM')
  if made.err and not string.find(made.err, 'BUSYGROUP', 1, true) then return made end
end
local fields, tidied = redis.call('HGETALL', prefix .. 'sg'), redis.call('HGET', meta_key, 'tidied')
local since_ms = tidied and now_ms - tonumber(tidied) or 0
local uncounted_ms = since_ms > gap_ms and since_ms or 0
local read_at, stale, left = {}, {}, 0
if group ~= '' then read_at[group], left = int(now_ms), 1 end
for i = 1, #fields, 2 do
  local name, read_at_ms = fields[i], math.min((tonumber(fields[i + 1]) or 0) + uncounted_ms, now_ms)
  if name == group then
    -- it is read now
  elseif tidied and now_ms - read_at_ms >= ttl_ms then
    stale[#stale + 1] = name
  else
    read_at[name], left = int(read_at_ms), left + 1
  end
end
local exists = redis.call('EXISTS', prefix .. 'st') == 1
for _, name in ipairs(stale) do
  if exists then redis.call('XGROUP', 'DESTROY', prefix .. 'st', name) end
  redis.call('HDEL', prefix .. 'sg', name)
end
for name, text in pairs(read_at) do
  redis.call('HSET', prefix .. 'sg', name, text)
end
if left > 0 then
  redis.call('HSET', meta_key, 'tidied', now_text)
  redis.call('HSET', meta_key, 'journal', '1')
else
  redis.call('HDEL', meta_key, 'journal')
end
return {1, '', int(now_ms), #stale}
