-- add_to_queue: puts tickets in a world, unless their players wait there already or are in a match. A repeated join
-- with the same key is answered as the first was and queues nothing, until 5 minutes after the ticket ended.
-- Needs match and worlds; world and drain_ms of the script.
-- JOIN_ARGS are player id, generation ('' = not a session's), key, fingerprint of the content.
local JOIN_ARGS = 4
-- Of a newcomer there is just its place while the call that it came with may match it: most never stand in the queue.
local newcomers, unasked, answers, answered, size_before, queue_size, mean_wait = {}, {}, {}, {}, 0, 0, ''

local byte = string.byte
local SERVERS_KEY = byte('~')

-- has_own_key tells of a key that the client gave: its join is answered as the first was for a while.
local function has_own_key(key)
  return key ~= '' and byte(key) ~= SERVERS_KEY
end

-- enter puts a newcomer's ticket in the queue and in its record.
local function enter(newcomer)
  if newcomer.is_in then return end
  newcomer.is_in = true
  local player, print = newcomer.player, newcomer.print
  if has_own_key(newcomer.key) then print = print .. ':' .. int(newcomer.position) end
  local record = load(player)
  local _, at = ticket_in(record, world)
  record.tickets[at or #record.tickets + 1] =
    {world = world, place = newcomer.place, n = '1', key = newcomer.key, print = print, ended = '', leader = ''}
  save(player, newcomer.place)
  queue_set(world, '1', player, newcomer.place)
end

-- bind_newcomer says of a member that is about to be bound to a match what has to be remembered of its ticket: all, where
-- the match is only held, and that of a client's key.
local function bind_newcomer(member, held)
  if member.key and (held or has_own_key(member.key)) then enter(member) end
end

-- repeated answers a join whose key is known: as the first was. What a client's own key was answered stands
-- behind the fingerprint; a key of the server's is only repeated at once, when it is still so.
local function repeated(record, player, t, print)
  local first, at = string.match(t.print, '^([^:]*):?(%d*)$')
  if first ~= print then return CODE_KEY_REUSED end
  if at ~= '' then return '2|' .. t.place .. '|' .. at .. '|' .. at .. '|', record end
  local position = record.newcomer and record.newcomer.position or 0
  if is_waiting(t) and position == 0 then
    local rank = redis.call('ZRANK', prefix .. 'q:' .. world .. ':1', player)
    if rank then position = rank + 1 end
  end
  return '2|' .. t.place .. '|' .. position .. '|' .. queue_size .. '|', record
end

local function waiting_worlds(record)
  local n = 0
  for _, t in ipairs(record.tickets) do
    if is_waiting(t) then n = n + 1 end
  end
  return n
end

-- ends_of is when a player's match ends, ahead of now unless the match can be ended now. A seat that was taken since has put off the end
-- that the record has, and nothing ends by time while it is calm.
local function ends_of(record)
  local ends_ms = tonumber(record.ends)
  if ends_ms > now_ms or is_bound(record) then return record.ends end
  ends_ms = tonumber(redis.call('ZSCORE', prefix .. 'mx', record.match) or ends_ms)
  return int(calm and math.max(ends_ms, now_ms + 1) or ends_ms)
end

-- may_join is nothing, or why a player may not join.
local function may_join(player, record, t, limits)
  if record.match ~= '' then
    return (is_bound(record) and CODE_IN_PROPOSAL or CODE_IN_MATCH) .. '|' .. record.match .. '|' .. ends_of(record)
  end
  if t and is_waiting(t) then return CODE_ALREADY_QUEUED .. '|' .. t.place end
  local cools_until = limits.cools_down and redis.call('GET', prefix .. 'dc:' .. world .. ',' .. player)
  if cools_until and tonumber(cools_until) > now_ms then return CODE_COOLED_DOWN .. '|' .. cools_until end
  if #record.tickets >= limits.worlds and waiting_worlds(record) >= limits.worlds then return CODE_TOO_MANY_WORLDS end
  if limits.queue > 0 and queue_size + 1 > limits.queue then return CODE_QUEUE_FULL end
end

-- join returns the answer, and the record that is to stand behind it as it is in the end.
local function join(player, presence, generation, key, print, limits)
  if is_older(generation, presence) then return CODE_REPLACED end
  if presence.epoch ~= epoch or presence.state ~= 'L' and not (presence.state == 'H' and is_live(presence)) then return CODE_GONE end
  if generation ~= '' and presence.generation ~= generation then return CODE_GONE end
  local record = load(player)
  if record.newcomer then enter(record.newcomer) end -- the second join of a player in one call
  local t = ticket_in(record, world)
  if t and key ~= '' and t.key == key then return repeated(record, player, t, print) end
  local refusal = may_join(player, record, t, limits)
  if refusal then return refusal end
  queue_size = queue_size + 1
  local place = next_place()
  local newcomer = {player = player, place = place, presence = presence, key = key, print = print, position = queue_size}
  record.newcomer, newcomers[#newcomers + 1] = newcomer, newcomer
  if generation == '' then
    unasked[#unasked + 1] = newcomer -- its session did not ask, and is told
  else
    tell_self()
  end
  return '1|' .. place .. '|', record
end

-- parse_limits reads queue,worlds,cools_down: the most waiting players (0: none), the most worlds that a player may wait
-- in, and whether who declined may not join again for a while.
local function parse_limits(text)
  local queue, worlds, cools_down = string.match(text, '^(%d+),(%d+),(%d)$')
  return {queue = tonumber(queue), worlds = tonumber(worlds), cools_down = cools_down == '1'}
end

-- add_to_queue takes the joins that stand in the arguments from first on.
local function add_to_queue(first, count, limits_text)
  if count == 0 then return end
  local players, generations, limits = {}, {}, parse_limits(limits_text)
  local at = first
  for i = 1, count do
    players[i], generations[i], at = ARGV[at], ARGV[at + 1], at + JOIN_ARGS
  end
  preload(players)
  local presences = presences_of(players, generations)
  size_before = redis.call('ZCARD', prefix .. 'q:' .. world .. ':1')
  queue_size = size_before
  mean_wait = redis.call('HGET', prefix .. 'ws:' .. world, 'mean') or '' -- as it was when they joined
  at = first
  for i = 1, count do
    answers[i], answered[i] = join(players[i], presences[i], generations[i], ARGV[at + 2], ARGV[at + 3], limits)
    at = at + JOIN_ARGS
  end
end

-- enter_waiting has those wait whom nothing matched.
local function enter_waiting()
  for i = 1, #newcomers do
    local newcomer = newcomers[i]
    if records[newcomer.player].match == '' then enter(newcomer) end
  end
end

-- answer_joins adds to the answers the records as they are now. Of whom this call matched they are in what is told.
local function answer_joins(reply)
  local before = #reply
  for i = 1, #answers do
    local answer, record = answers[i], answered[i]
    if record and (record.match == '' or not record.newcomer) then answer = answer .. format_record(record) end
    reply[before + i] = answer
  end
  return reply
end

-- tell_unasked tells the sessions of those for whom somebody else joined, unless the match is what they are told.
local function tell_unasked()
  for _, newcomer in ipairs(unasked) do
    if load(newcomer.player).match == '' then tell_player(newcomer.player, newcomer.presence) end
  end
end
