-- add_to_queue: puts tickets in a world, unless their players wait there already or are in a match. A repeated join
-- with the same key is answered as the first was and queues nothing, until 5 minutes after the ticket ended.
-- Needs match and worlds; world and drain_ms of the script.
-- JOIN_ARGS are player id, generation ('' = not a session's), key, fingerprint of the content.
local JOIN_ARGS = 4
local newcomers, join_replies, unasked, entered, size_before, mean_wait = {}, {}, {}, {}, 0, ''

-- repeated answers a join whose key is known: as the first was. What a client's own key was answered stands
-- behind the fingerprint; a key of the server's is only repeated at once, when it is still so.
local function repeated(player, t, print)
  local first, at = string.match(t.print, '^([^:]*):?(%d*)$')
  if first ~= print then return {CODE_KEY_REUSED} end
  if at ~= '' then return {2, t.place, at, at, player} end
  local position = entered[player] or 0
  if is_waiting(t) and position == 0 then
    local rank = redis.call('ZRANK', prefix .. 'q:' .. world .. ':1', player)
    if rank then position = rank + 1 end
  end
  return {2, t.place, position, size_before, player}
end

local function waiting_worlds(record)
  local n = 0
  for _, t in ipairs(record.tickets) do
    if is_waiting(t) then n = n + 1 end
  end
  return n
end

-- may_join is nothing, or why a player may not join.
local function may_join(player, record, t, limits)
  if record.match ~= '' then return {is_bound(record) and CODE_IN_PROPOSAL or CODE_IN_MATCH, record.match, record.ends} end
  if t and is_waiting(t) then return {CODE_ALREADY_QUEUED, t.place} end
  local cools_until = limits.cools_down == '1' and redis.call('GET', prefix .. 'dc:' .. world .. ',' .. player)
  if cools_until and tonumber(cools_until) > now_ms then return {CODE_COOLED_DOWN, cools_until} end
  if waiting_worlds(record) >= limits.worlds then return {CODE_TOO_MANY_WORLDS} end
  if limits.queue > 0 and size_before + 1 > limits.queue then return {CODE_QUEUE_FULL} end
end

local function join(player, presence, generation, key, print, limits)
  if is_older(generation, presence) then return {CODE_REPLACED} end
  if presence.epoch ~= epoch or (presence.state ~= 'L' and presence.state ~= 'H') then return {CODE_GONE} end
  if generation ~= '' and presence.generation ~= generation then return {CODE_GONE} end
  local record = load(player)
  local t, at = ticket_in(record, world)
  if t and key ~= '' and t.key == key then return repeated(player, t, print) end
  local refusal = may_join(player, record, t, limits)
  if refusal then return refusal end
  local place = next_place()
  size_before = size_before + 1
  if key ~= '' and string.sub(key, 1, 1) ~= '~' then print = print .. ':' .. int(size_before) end
  record.tickets[at or #record.tickets + 1] = {world = world, place = place, n = '1', key = key, print = print, ended = '', leader = ''}
  save(player, place)
  queue_add(world, '1', player, place)
  newcomers[#newcomers + 1] = {player = player, place = place, presence = presence}
  entered[player] = size_before
  if generation == '' then
    unasked[#unasked + 1] = newcomers[#newcomers] -- its session did not ask, and is told
  else
    tell_self()
  end
  return {1, place, size_before, size_before, player}
end

-- parse_limits reads queue,worlds,cools_down: the most waiting players (0: none), the most worlds that a player may wait
-- in, and whether who declined may not join again for a while.
local function parse_limits(text)
  local queue, worlds, cools_down = string.match(text, '^(%d+),(%d+),(%d)$')
  return {queue = tonumber(queue), worlds = tonumber(worlds), cools_down = cools_down}
end

-- add_to_queue takes the joins that stand in the arguments from first on.
local function add_to_queue(first, count, limits_text)
  if count == 0 then return end
  local players, limits = {}, parse_limits(limits_text)
  for i = 1, count do
    players[i] = ARGV[first + (i - 1) * JOIN_ARGS]
  end
  preload(players)
  local presences = presences_of(players)
  size_before = redis.call('ZCARD', prefix .. 'q:' .. world .. ':1')
  mean_wait = redis.call('HGET', prefix .. 'ws:' .. world, 'mean') or '' -- as it was when they joined
  for i, player in ipairs(players) do
    local generation, key, print = unpack(ARGV, first + (i - 1) * JOIN_ARGS + 1, first + (i - 1) * JOIN_ARGS + 3)
    join_replies[i] = join(player, presences[i], generation, key, print, limits)
  end
end

-- answer_joins adds to the answers the records as they are now. Of who is matched already they are in what is told.
local function answer_joins(reply)
  for _, answer in ipairs(join_replies) do
    if answer[1] > 0 then
      local record = load(answer[5])
      answer[5] = record.match == '' and format_record(record) or ''
    end
    reply[#reply + 1] = answer
  end
  return reply
end

-- tell_unasked tells the sessions of those for whom somebody else joined, unless the match is what they are told.
local function tell_unasked()
  for _, newcomer in ipairs(unasked) do
    if load(newcomer.player).match == '' then tell_player(newcomer.player, newcomer.presence) end
  end
end
