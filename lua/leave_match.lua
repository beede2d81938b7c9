#!lua flags=allow-oom
-- leave_match: a player leaves its open match and is free to queue again; the match ends with its last.
-- Guarantee:  touches only a record that names this match. Sent again: no such match.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 = use redis TIME
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     player     id
-- ARGV[6]     generation integer
-- ARGV[7]     match      id
-- Returns     {1, own part of what was told, now_ms, record} | {-10} no such match | {-3} replaced
-- Touches     pl, pr:<player>, m, mx, st, w, ws:<world>, kp, pub, i:<instance>
-- Cost        O(players of the match)
-- @include prelude
-- @include writes
-- @include tell
-- @include match_record
local player, generation, id = ARGV[5], ARGV[6], ARGV[7]
local presence = parse_presence(redis.call('GET', prefix .. 'pr:' .. player))
if is_older(generation, presence) then return finish({CODE_REPLACED}) end
local record = load(player)

-- tell_others tells the others' instances who is left, so that none of them brings the player back into the
-- match should history be lost.
local function tell_others(match, text)
  local keys = {}
  for i, other in ipairs(match.players) do
    keys[i] = prefix .. 'pr:' .. other
  end
  for i, seen in ipairs(redis.call('MGET', unpack(keys))) do
    local other = parse_presence(seen)
    if other.state == 'L' and not has_left(match, match.players[i]) then
      tell_match(other.instance, id, text)
    end
  end
end

if id == '' or record.match ~= id then return finish({CODE_NO_SUCH_MATCH}) end
record.match, record.ends, record.acked = '', '', ''
save(player)
tell_self()
local text = redis.call('HGET', prefix .. 'm', id)
local match = text and parse_match(text)
flush()
if match then
  match.left[#match.left + 1] = player
  match.version = record.version
  if #match.left >= #match.players then
    redis.call('HDEL', prefix .. 'm', id)
    redis.call('ZREM', prefix .. 'mx', id)
    count_open(match.world, -1)
    redis.call('XADD', prefix .. 'st', 'MAXLEN', '~', '10000', '*', 'event', 'match_ended', 'match', id, 'reason', 'left')
  else
    local changed = format_match(match)
    redis.call('HSET', prefix .. 'm', id, changed)
    tell_others(match, changed)
  end
end
return finish({1, tell_all(), int(now_ms), format_record(record)})
