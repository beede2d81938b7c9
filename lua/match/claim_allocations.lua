#!lua flags=allow-oom
-- claim_allocations: an instance is going to ask for the servers of matches whose turn it is.
-- Guarantee:  until the lease is over nobody else has them; then whoever asks. Each claim counts as an attempt. A record
--             that cannot be read is left for a lease to an instance of another version. Sent again: claims others, and
--             those of the lost reply are claimed again when their lease is over.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     limit      integer    the most matches
-- ARGV[6]     lease_ms   integer
-- Returns     {1, '', now_ms, then for each {1, match, attempt, record}}
-- Touches     m, al, an
-- Cost        O(limit log n)
-- @include prelude
-- @include match_record
local limit, lease_ms = tonumber(ARGV[5]), tonumber(ARGV[6])
local reply = {1, '', int(now_ms)}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'al', '-inf', int(now_ms), 'LIMIT', 0, limit)) do
  local text = redis.call('HGET', prefix .. 'm', id)
  local match = text and parse_match(text)
  if text and not match then
    redis.call('ZADD', prefix .. 'al', int(now_ms + lease_ms), id)
  elseif match and match.state == 'allocating' then
    redis.call('ZADD', prefix .. 'al', int(now_ms + lease_ms), id)
    reply[#reply + 1] = {1, id, redis.call('HINCRBY', prefix .. 'an', id, 1), text}
  else
    redis.call('ZREM', prefix .. 'al', id)
    redis.call('HDEL', prefix .. 'an', id)
  end
end
return finish(reply)
