-- window: the head of a world's queue, as far as one call may look: the live tickets in their order.
-- What is not live is parked, so that it is in nobody's way; what the record does not know is removed.
-- Needs writes and presence.
local function read_window(world, width, after)
  local queue = prefix .. 'q:' .. world .. ':1'
  local head = redis.call('ZRANGEBYSCORE', queue, '(' .. after, '+inf', 'WITHSCORES', 'LIMIT', 0, width)
  local players, places, keys = {}, {}, {}
  for i = 1, #head, 2 do
    local at = #players + 1
    players[at], places[at], keys[at] = head[i], head[i + 1], prefix .. 'pr:' .. head[i]
  end
  if #players == 0 then return {}, 0, false, after end
  preload(players)
  local presences = redis.call('MGET', unpack(keys))
  local live, parked = {}, 0
  for i, player in ipairs(players) do
    local presence, t = parse_presence(presences[i]), ticket_in(load(player), world)
    if not t or not is_waiting(t) or tonumber(t.place) ~= tonumber(places[i]) then
      queue_set(world, '1', player, false)
      parked = parked + 1
    elseif is_live(presence) then
      live[#live + 1] = {player = player, place = t.place, presence = presence}
    else
      -- Its instance is silent, or could not refresh it. Who lives by heartbeats has its deadline already.
      local gone_at_ms = redis.call('ZSCORE', prefix .. 'aw', player) or now_ms + presence_ttl_ms + drain_ms
      park(player, int(tonumber(gone_at_ms)))
      parked = parked + 1
    end
  end
  return live, parked, #players == width, places[#places]
end
