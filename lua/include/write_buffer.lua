-- write_buffer: what a script is going to write. Scripts read and check everything, collect here, and write
-- at the end, each kind with variadic commands that cannot fail.
-- @include record
local records, kept, queues, away, notes, seat_holds = {}, {}, {}, {}, {}, {}
local KEPT_MS = 300000
local NOTES_MS, NOTES_MAX = 86400000, 8

-- preload reads the records of many players at once.
local function preload(players)
  local missing = {}
  for i = 1, #players do
    if not records[players[i]] then missing[#missing + 1] = players[i] end
  end
  if #missing > 0 then
    local texts = read_many('HMGET', prefix .. 'pl', missing)
    for i = 1, #missing do
      records[missing[i]] = parse_record(texts[i])
    end
  end
end

-- load is a player's record as this script has it so far.
local function load(player)
  local record = records[player]
  if record then return record end
  preload({player})
  return records[player]
end

-- save gives the record a new version and has it written. A record that says nothing is removed.
local function save(player, version)
  local record = records[player]
  record.version, record.text, record.is_changed = version or next_place(), nil, true
end

-- keep has a record looked at again in five minutes, when its ended tickets may be forgotten.
local function keep(player)
  kept[player] = now_ms + KEPT_MS
end

local function queue_set(world, n, leader, place)
  local key = prefix .. 'q:' .. world .. ':' .. n
  queues[key] = queues[key] or {}
  queues[key][leader] = place
end

-- take_out ends a player's waiting tickets, or just the one in a world: out of queue and record.
-- A ticket with a key of its client's is remembered for a while, for a repeated join.
local function take_out(player, only)
  local record, rest, out = load(player), {}, {}
  for _, t in ipairs(record.tickets) do
    if is_waiting(t) and (not only or t.world == only) then
      queue_set(t.world, t.n, player, false)
      out[#out + 1] = t
      if t.key ~= '' and string.sub(t.key, 1, 1) ~= '~' then
        rest[#rest + 1] = {world = t.world, place = t.place, n = t.n, key = t.key, print = t.print, ended = int(now_ms), leader = t.leader}
        keep(player)
      end
    elseif is_waiting(t) or tonumber(t.ended) + KEPT_MS > now_ms then
      rest[#rest + 1] = t
    end
  end
  record.tickets = rest
  return out
end

-- unqueue takes a player's waiting tickets out of the queues; they keep their places in the record.
local function unqueue(player)
  for _, t in ipairs(load(player).tickets) do
    if is_waiting(t) then
      queue_set(t.world, t.n, player, false)
    end
  end
end

local function waits(player)
  for _, t in ipairs(load(player).tickets) do
    if is_waiting(t) then return true end
  end
  return false
end

-- has_place reports whether a player has anything that it loses when it is gone for too long: tickets that wait, or a seat.
-- A match without seats of its own, also one with seats that a back end opened, is kept.
local function has_place(player)
  return waits(player) or has_seat(load(player))
end

-- park has a player's tickets wait for its return.
local function park(player, gone_at_ms)
  unqueue(player)
  away[player] = gone_at_ms
end

-- note remembers an end that the player did not ask for; it is repeated in every state for a day.
local function note(player, kind, world, subject, reason)
  local text = next_place() .. '|' .. kind .. '|' .. world .. '|' .. subject .. '|' .. reason .. '|' .. int(now_ms)
  notes[player] = notes[player] or {}
  table.insert(notes[player], text)
  if kind == 'dequeued' then tickets_ended[reason] = (tickets_ended[reason] or 0) + 1 end
  return text
end

-- may_go tells of an idle record. While an epoch is young it is kept too, lest another's late assertion brings back what
-- it left.
local function may_go(player)
  if kept[player] then return false end
  if now_us - tonumber(epoch) > KEPT_MS * 1000 then return true end
  keep(player)
  return false
end

local function flush_records()
  local set, gone = {}, {}
  for player, record in pairs(records) do
    if not record.is_changed then
      -- it was only looked at
    elseif is_idle(record) and may_go(player) then
      gone[#gone + 1] = player
    else
      set[#set + 1] = player
      set[#set + 1] = format_record(record)
    end
  end
  write_many('HSET', prefix .. 'pl', set)
  write_many('HDEL', prefix .. 'pl', gone)
end

-- flush_scores writes a map of member to score (false: remove) into a sorted set.
local function flush_scores(key, scores)
  local add, remove = {}, {}
  for member, score in pairs(scores) do
    if score then
      add[#add + 1] = score
      add[#add + 1] = member
    else
      remove[#remove + 1] = member
    end
  end
  write_many('ZADD', key, add)
  write_many('ZREM', key, remove)
end

local function flush()
  flush_records()
  for key, scores in pairs(queues) do
    flush_scores(key, scores)
  end
  flush_scores(prefix .. 'aw', away)
  flush_scores(prefix .. 'kp', kept)
  flush_scores(prefix .. 'sh', seat_holds)
  for player, texts in pairs(notes) do
    local key = prefix .. 'no:' .. player
    write_many('LPUSH', key, texts)
    redis.call('LTRIM', key, 0, NOTES_MAX - 1)
    redis.call('PEXPIRE', key, NOTES_MS)
  end
end
