-- player_state: a player's whole state as one reply: record, match, notes, and how its waiting tickets stand.
-- Needs time and record.
-- @include ranks
local function describe(player)
  local text = redis.call('HGET', prefix .. 'pl', player)
  local record = parse_record(text)
  local match = record.match ~= '' and redis.call('HGET', prefix .. 'm', record.match) or ''
  local notes_text = table.concat(redis.call('LRANGE', prefix .. 'no:' .. player, 0, -1), '\n')
  return {text or '', match or '', notes_text, ranks_of(player, record)}
end
