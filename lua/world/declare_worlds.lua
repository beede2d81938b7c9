#!lua flags=allow-oom
-- declare_worlds: make the caller's worlds the realm's; a world that it leaves out is closing.
-- Guarantee:  a world whose settings did not change keeps its revision; scripts refuse an older one, so
--             that instances with different files cannot mix. Sent again: changes nothing.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     count      integer    worlds that follow
-- ARGV[6..]   world id, state open|closed, hash of its settings, its settings; for each
-- Returns     {1, '', now_ms, revision of the newest change}
-- Touches     w, wc (settings)
-- Cost        O(worlds)
-- @include prelude
local count = tonumber(ARGV[5])
local declared, changed = {}, nil
for i = 0, count - 1 do
  local world, state, hash, settings = unpack(ARGV, 6 + i * 4, 9 + i * 4)
  declared[world] = true
  local text = redis.call('HGET', prefix .. 'w', world)
  local _, old_state, old_hash = string.match(text or '', '^(%d+)|(%a+)|(.*)$')
  if old_state ~= state or old_hash ~= hash then
    changed = next_place()
    redis.call('HSET', prefix .. 'w', world, changed .. '|' .. state .. '|' .. hash)
    redis.call('HSET', prefix .. 'wc', world, settings)
  end
end
for _, world in ipairs(redis.call('HKEYS', prefix .. 'w')) do
  local state = string.match(redis.call('HGET', prefix .. 'w', world), '^%d+|(%a+)|')
  if not declared[world] and state ~= 'closing' then
    changed = next_place()
    redis.call('HSET', prefix .. 'w', world, changed .. '|closing|')
  end
end
if changed then redis.call('HSET', meta_key, 'worlds', changed) end
return finish({1, '', int(now_ms), changed or redis.call('HGET', meta_key, 'worlds') or '0'})
