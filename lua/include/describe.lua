-- describe: a player's whole state as one reply: record, match, notes, and for each waiting ticket its
-- rank and the size of its queue (for one that is away: the rank that it would have). Reads what stands in Redis.
-- Needs time and record.
local function describe(player)
  local text = redis.call('HGET', prefix .. 'pl', player)
  local record, ranks = parse_record(text), {}
  for _, t in ipairs(record.tickets) do
    if is_waiting(t) then
      local key = prefix .. 'q:' .. t.world .. ':' .. t.n
      local rank = redis.call('ZRANK', key, player) or redis.call('ZCOUNT', key, '-inf', '(' .. t.place)
      ranks[#ranks + 1] = t.world .. '=' .. int(rank) .. ',' .. int(redis.call('ZCARD', key) * tonumber(t.n))
    end
  end
  local match = record.match ~= '' and redis.call('HGET', prefix .. 'm', record.match) or ''
  local notes_text = table.concat(redis.call('LRANGE', prefix .. 'no:' .. player, 0, -1), '\n')
  return {text or '', match or '', notes_text, table.concat(ranks, ';')}
end
