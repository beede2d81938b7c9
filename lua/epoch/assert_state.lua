#!lua flags=allow-oom
-- assert_state: after a loss of history an instance says what it last saw of its sessions.
-- Guarantee:  the newer knowledge wins: what Redis has stands if it is newer than what the session saw, or was
--             written in this epoch. A match that one participant's instance saw is restored for the others
--             where nothing newer stands; one that lost a member to a match of this epoch is cancelled. Sent
--             again: changes nothing.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer    the new one
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     players    integer    assertions that follow
-- ARGV[6]     matches    integer    matches that follow them
-- ARGV[7..]   player id, generation, as-of place, record; for each; then match id, match; for each
-- Returns     {1, own part of what was told, now_ms, then for each 1 stands | 2 adopt what Redis has | -3 replaced}
-- Touches     pl, pr:<player>, ip:<instance>, ins, aw, q:<world>:<n>, m, mx, st, w, ws:<world>, no:<player>, kp, op:<world>,
--             sh, al, an, dc:<world>, pub, i:<instance>
-- Cost        O(players + players of the matches); about 100 a call. The caller never cuts a match, since each call that
--             names it restores it for all its players
-- @include end_bundle
-- @include seats
-- @include release_lost_player
local player_count, match_count = tonumber(ARGV[5]), tonumber(ARGV[6])
local asserted, asserted_matches, players, keys = {}, {}, {}, {}
for i = 1, player_count do
  local player, generation, as_of, text = unpack(ARGV, 3 + i * 4, 6 + i * 4)
  asserted[i] = {player = player, generation = generation, as_of = as_of, text = text}
  -- Redis' clock may be behind the one that gave out these.
  last = math.max(last, tonumber(generation), tonumber(as_of))
  players[i], keys[i] = player, prefix .. 'pr:' .. player
end
for i = 1, match_count do
  local at = 7 + player_count * 4 + (i - 1) * 2
  asserted_matches[ARGV[at]] = ARGV[at + 1]
end
preload(players)
-- @include restore_match
local presences, statuses, here, quitters = mget(keys), {}, {}, {}

-- settle decides between what Redis has and what the session saw, and writes the winner.
local function settle(a)
  local record = load(a.player)
  if is_newer(record, a.as_of) then return 2 end
  local seen = parse_record(a.text ~= '' and a.text or nil)
  for _, t in ipairs(record.tickets) do
    if is_waiting(t) then queue_set(t.world, t.n, a.player, false) end
  end
  if record.match ~= '' and record.match ~= seen.match then quitters[a.player] = record.match end
  record.match, record.ends, record.acked, record.tickets = seen.match, seen.ends, seen.acked, seen.tickets
  save(a.player, a.as_of)
  keep(a.player)
  return 1
end

-- settle_for_newer leaves what was asserted to the player's newer session, which is told, or is away, or
-- lives by heartbeats.
local function settle_for_newer(player, presence)
  if presence.state == 'A' then
    if has_place(player) then park(player, int(now_ms + presence_ttl_ms)) end
    return
  end
  put_back(player, presence)
  if presence.state == 'H' then away[player] = int(now_ms + presence_ttl_ms) end
  tell_player(player, presence)
end

for i, a in ipairs(asserted) do
  local presence = parse_presence(presences[i])
  statuses[i] = settle(a)
  if is_older(a.generation, presence) then
    if statuses[i] == 1 then settle_for_newer(a.player, presence) end
    statuses[i] = CODE_REPLACED
  else
    if presence.state == 'L' and presence.generation ~= a.generation then
      tell(presence.instance, 'R ' .. a.player .. ' ' .. a.generation)
    end
    if presence.instance ~= '' and presence.instance ~= self then
      redis.call('SREM', prefix .. 'ip:' .. presence.instance, a.player)
    end
    local text = format_presence('L', self, a.generation)
    redis.call('SET', keys[i], text, 'PX', presence_ttl_ms)
    put_back(a.player, parse_presence(text))
    here[#here + 1] = a.player
  end
end
for _, a in ipairs(asserted) do
  restore_match(a.player, load(a.player).match, true)
end
for _, a in ipairs(asserted) do
  local id = load(a.player).match
  local match = match_of(id)
  if match then
    free_strangers({a.player}, id, match)
  elseif settled[id] then
    free_lost(a.player, id)
  end
end
-- Who was given back a match that it knows to have left is out of its book again; without it one that is held falls through.
for player, id in pairs(quitters) do
  local match = match_of(id)
  if match and is_one_of(match.players, player) and not has_left(match, player) then
    if is_held(match) then
      fall_through(id, match)
    else
      leave_seat(id, match, player, next_place())
    end
  end
end
if #here > 0 then
  write_many('SADD', prefix .. 'ip:' .. self, here)
  redis.call('ZADD', prefix .. 'ins', 'NX', int(now_ms), self) -- as arrive does
end
flush()
flush_matches()
-- Whoever has come back gets the time that Redis was away.
calm_until_ms = now_ms + presence_ttl_ms
return finish(append({1, tell_all(), int(now_ms)}, statuses))
