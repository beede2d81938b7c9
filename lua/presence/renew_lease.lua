#!lua flags=allow-oom
-- renew_lease: extend an instance's lease; without a good one its players are not live.
-- Guarantee:  says whether the lease had lapsed, so that the instance has its sessions arrive again.
--             Sent again: extends again, and says 'not lapsed', which the caller must not trust after a
--             lost reply.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- Returns     {1, '', now_ms, lapsed 0|1, publishes to the instance, worlds' revision, last place}
-- Touches     ins, pub
-- Cost        O(log instances)
-- @include prelude
-- @include presence
local lapsed = lease_is_good(self) and 0 or 1
redis.call('ZADD', prefix .. 'ins', int(now_ms + LEASE_MS), self)
local published = redis.call('HGET', prefix .. 'pub', self) or '0'
local worlds_revision = redis.call('HGET', meta_key, 'worlds') or '0'
return finish({1, '', int(now_ms), lapsed, published, worlds_revision, int(last)})
