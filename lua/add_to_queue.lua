#!lua
-- add_to_queue: put tickets in a world, unless their players wait there already or are in a match.
-- Guarantee:  queue entry and record are written together. A repeated join with the same key is answered
--             as the first was and queues nothing, until 5 minutes after the ticket ended.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 = use redis TIME
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     world      id
-- ARGV[6]     revision   integer    of the world's settings
-- ARGV[7]     queue_limit  integer  most waiting players; 0 = none
-- ARGV[8]     worlds_limit integer  most worlds that a player may wait in
-- ARGV[9]     cools_down 0|1        whether who declined may not join again for a while
-- ARGV[10]    count      integer    joins that follow
-- ARGV[11..]  player id, generation ('' = not a session's), key, fingerprint of the content; for each
-- Returns     {1, own part of what was told, now_ms, mean wait 'ms,at_ms' or '', then for each {1 joined |
--             2 repeated, place, position, size, record} | {-5 already queued, place} | {-6 in match,
--             match, ends_ms} | {-13 in proposal, match, ends_ms} | {-14 cooled down, until_ms} | {code}}
-- Touches     pl, dc:<world>, pr:<player>, ins, q:<world>:<n>, w, ws:<world>, kp, pub, i:<instance>
-- Cost        O(count log n); at most 100 a call
-- @include prelude
-- @include writes
-- @include tell
-- @include worlds
local world, revision, queue_limit, worlds_limit, cools_down, count =
  ARGV[5], ARGV[6], tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9], tonumber(ARGV[10])
local refused = world_check(world, revision)
if refused ~= 0 then return finish({refused}) end

local queue = prefix .. 'q:' .. world .. ':1'
local players, keys, replies, entered = {}, {}, {}, {}
local mean_wait = redis.call('HGET', prefix .. 'ws:' .. world, 'mean') or ''
for i = 1, count do
  players[i] = ARGV[7 + i * 4]
  keys[i] = prefix .. 'pr:' .. players[i]
end
preload(players)
local presences = redis.call('MGET', unpack(keys))
local size = redis.call('ZCARD', queue)

-- repeated answers a join whose key is known: as the first was. What a client's own key was answered stands
-- behind the fingerprint; a key of the server's is only repeated at once, when it is still so.
local function repeated(player, t, print)
  local first, at = string.match(t.print, '^([^:]*):?(%d*)$')
  if first ~= print then return {CODE_KEY_REUSED} end
  if at ~= '' then return {2, t.place, at, at, format_record(load(player))} end
  local position = entered[player] or 0
  if is_waiting(t) and position == 0 then
    local rank = redis.call('ZRANK', queue, player)
    if rank then position = rank + 1 end
  end
  return {2, t.place, int(position), int(size), format_record(load(player))}
end

local function waiting_worlds(record)
  local n = 0
  for _, t in ipairs(record.tickets) do
    if is_waiting(t) then n = n + 1 end
  end
  return n
end

local function join(player, presence, generation, key, print)
  if is_older(generation, presence) then return {CODE_REPLACED} end
  if presence.epoch ~= epoch or (presence.state ~= 'L' and presence.state ~= 'H') then return {CODE_GONE} end
  if generation ~= '' and presence.generation ~= generation then return {CODE_GONE} end
  local record = load(player)
  local t, at = ticket_in(record, world)
  if t and key ~= '' and t.key == key then return repeated(player, t, print) end
  if record.match ~= '' then return {is_bound(record) and CODE_IN_PROPOSAL or CODE_IN_MATCH, record.match, record.ends} end
  if t and is_waiting(t) then return {CODE_ALREADY_QUEUED, t.place} end
  local cools_until = cools_down == '1' and redis.call('GET', prefix .. 'dc:' .. world .. ',' .. player)
  if cools_until and tonumber(cools_until) > now_ms then return {CODE_COOLED_DOWN, cools_until} end
  if waiting_worlds(record) >= worlds_limit then return {CODE_TOO_MANY_WORLDS} end
  if queue_limit > 0 and size + 1 > queue_limit then return {CODE_QUEUE_FULL} end
  local place = next_place()
  if key ~= '' and string.sub(key, 1, 1) ~= '~' then print = print .. ':' .. int(size + 1) end
  record.tickets[at or #record.tickets + 1] = {world = world, place = place, n = '1', key = key, print = print, ended = '', leader = ''}
  save(player, place)
  queue_set(world, '1', player, place)
  size = size + 1
  entered[player] = size
  if generation == '' then
    tell_player(player, presence) -- its session did not ask
  else
    tell_self()
  end
  return {1, place, int(size), int(size), format_record(record)}
end

for i, player in ipairs(players) do
  local generation, key, print = ARGV[8 + i * 4], ARGV[9 + i * 4], ARGV[10 + i * 4]
  replies[i] = join(player, parse_presence(presences[i]), generation, key, print)
end
flush()
return finish({1, tell_all(), int(now_ms), mean_wait, unpack(replies)})
