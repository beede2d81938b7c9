-- scan_queue: the head of a world's queue, as far as one call may look, and behind it those who just joined: the live
-- tickets in their order. What is not live is parked, so that it is in nobody's way; what the record does not know is
-- removed. Needs add_to_queue.
local parked = 0

-- park_absent parks a player whose instance is silent, or could not refresh it. Who lives by heartbeats has its
-- deadline already.
local function park_absent(player)
  local gone_at_ms = redis.call('ZSCORE', prefix .. 'aw', player) or now_ms + presence_ttl_ms + drain_ms
  park(player, int(tonumber(gone_at_ms)))
  parked = parked + 1
end

-- read_window reads at most width tickets behind a place, and up to another unless that is '0'. It returns the live ones,
-- whether there may be more, and the place of the last that it read.
local function read_window(width, after, up_to)
  local to = up_to == '0' and '+inf' or up_to
  local head = redis.call('ZRANGEBYSCORE', prefix .. 'q:' .. world .. ':1', '(' .. after, to, 'WITHSCORES', 'LIMIT', 0, width)
  local players, live, reached = {}, {}, after
  for i = 1, #head, 2 do
    players[#players + 1] = head[i]
  end
  if #players > 0 then
    preload(players)
    local presences = presences_of(players)
    for i, player in ipairs(players) do
      local t = ticket_in(load(player), world)
      if not t or not is_waiting(t) or tonumber(t.place) ~= tonumber(head[i * 2]) then
        queue_set(world, '1', player, false)
        parked = parked + 1
      elseif is_live(presences[i]) then
        live[#live + 1] = {player = player, place = t.place, presence = presences[i]}
      else
        park_absent(player)
      end
    end
    reached = head[#head]
  end
  if up_to ~= '0' then return live, #players >= width, reached end
  local room = width - #players
  for i = 1, math.min(room, #newcomers) do
    local newcomer = newcomers[i]
    if is_live(newcomer.presence) then
      live[#live + 1] = newcomer
    else
      enter(newcomer)
      park_absent(newcomer.player)
    end
    reached = newcomer.place
  end
  return live, #players + #newcomers >= width, reached
end
