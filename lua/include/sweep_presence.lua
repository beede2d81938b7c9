-- sweep_presence: who is no longer there.
local silent_set, silent_players = '', {}

-- park_silent parks the players of an instance whose lease ended, as far as the budget goes, and forgets the instance with
-- its last player. They were not live since the lease ended; now they are in nobody's way. Players whom this call has
-- judged already stay for the next, which there always is: another instance may be silent, too.
local function park_silent()
  local silent = redis.call('ZRANGEBYSCORE', prefix .. 'ins', '-inf', now_text, 'LIMIT', 0, 1)[1]
  if not silent then return end
  local most = budget
  silent_set = prefix .. 'ip:' .. silent
  local players = redis.call('SRANDMEMBER', silent_set, most)
  preload(players)
  for i, presence in ipairs(presences_of(players)) do
    local player = players[i]
    afford(1)
    if away[player] == nil then
      silent_players[#silent_players + 1] = player
      local is_there = presence.state == 'L' and presence.instance == silent
      -- A presence may have run out before anybody looked: all instances were down, or the lease is longer.
      if (is_there or presence.state == '') and has_place(player) then
        park(player, int(now_ms + presence_ttl_ms + drain_ms))
        parked = parked + 1
      end
      if is_there then
        write_last('SET', prefix .. 'pr:' .. player, 'A|' .. presence.epoch .. '|' .. silent .. '|' .. presence.generation,
          'PX', int(2 * presence_ttl_ms + drain_ms))
      end
    end
  end
  if #silent_players == #players and #players < most then
    write_last('ZREM', prefix .. 'ins', silent)
    write_last('HDEL', prefix .. 'pub', silent)
  end
  is_used_up = true
end

local function flush_silent()
  write_many('SREM', silent_set, silent_players)
end

-- evict_gone ends the tickets of those whose grace has passed. Who waits by HTTP heartbeats has its next
-- deadline in the same index. Who is live was parked while its instance was silent, and was not brought back.
local function evict_gone()
  local players = due_members(prefix .. 'aw', now_text)
  preload(players)
  for i, presence in ipairs(presences_of(players)) do
    local player = players[i]
    if not afford(seat_cost(player)) then return end
    away[player] = false
    if is_live(presence) then
      put_back(player, presence)
    else
      end_ticket(player, nil, 'presence_lost', presence)
      release_seat(player, presence)
      write_last('DEL', prefix .. 'pr:' .. player)
      gone = gone + 1
    end
  end
end
