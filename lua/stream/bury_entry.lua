#!lua flags=allow-oom
-- bury_entry: a group of the stream's readers gives an entry up: it becomes a dead letter and is done with.
-- Guarantee:  both or neither. It works in a full Redis: an entry that is not done with keeps all behind it. Sent again: the
--             dead letter is there twice.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer    not compared: the stream outlives an epoch
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     entry      id
-- ARGV[6]     group      id
-- ARGV[7]     reason     text
-- ARGV[8]     bound      integer    of dead letters, about; the oldest go first
-- ARGV[9..]   field, value (of the entry); for each
-- Returns     {1, '', now_ms}
-- Touches     sd, st
-- Cost        O(fields)
-- @include time
local entry, group, reason, bound = ARGV[5], ARGV[6], ARGV[7], ARGV[8]
redis.call('XADD', prefix .. 'sd', 'MAXLEN', '~', bound, '*', 'dead.group', group, 'dead.reason', reason, 'dead.at', int(now_ms),
  unpack(ARGV, 9))
redis.call('XACK', prefix .. 'st', group, entry)
return {1, '', int(now_ms)}
