-- ranks_of is how each waiting ticket stands in its queue, world=rank,size;…: for one that is away, or held by a
-- match, the rank that it would have. Reads what stands in Redis. Needs time and record.
local function ranks_of(player, record)
  local ranks = {}
  for _, t in ipairs(record.tickets) do
    if is_waiting(t) then
      local key = prefix .. 'q:' .. t.world .. ':' .. t.n
      local rank = redis.call('ZRANK', key, player) or redis.call('ZCOUNT', key, '-inf', '(' .. t.place)
      ranks[#ranks + 1] = t.world .. '=' .. int(rank) .. ',' .. int(redis.call('ZCARD', key) * tonumber(t.n))
    end
  end
  return table.concat(ranks, ';')
end
