-- read_prelude: the prelude of a script that writes nothing.
-- @include time
-- @include replication_id
local meta = redis.call('HMGET', meta_key, 'epoch', 'history', 'last', 'worlds', 'touched', 'ahead')
if meta[1] ~= epoch or meta[2] ~= history() then
  return {CODE_LOST_HISTORY, meta[1] or ''}
end
continue_time(tonumber(meta[5]), tonumber(meta[6] or '0'))
