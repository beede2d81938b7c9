#!lua
-- find_opponent: put tickets in a world and pair its live ones, the oldest first, each with the oldest that it has not
-- met within the rematch cooldown.
-- Guarantee:  both are taken out of all worlds in the step that writes the match; otherwise as extract_group.
-- KEYS[1]     meta                  mm:{realm}:meta
-- ARGV[1]     epoch      integer
-- ARGV[2]     instance   id
-- ARGV[3]     now_us     integer    0 or below = use redis TIME (include/time.lua)
-- ARGV[4]     presence_ttl_ms  integer
-- ARGV[5]     world      id
-- ARGV[6]     revision   integer    of the world's settings
-- ARGV[7]     after      text       where the walk stands: '', or what the last call returned
-- ARGV[8]     width      integer    tickets looked at
-- ARGV[9]     terms      hold_ms,accept_ms,cooldown_ms,allocate,seats,seat_hold_ms,at_most,within_ms
-- ARGV[10]    drain_ms   integer    what a silent instance's players get beyond presence_ttl
-- ARGV[11]    scan       integer    tickets that one is tried with by one command, twice as many by the next
-- ARGV[12]    cooldown_ms  integer  how long the same two do not meet again
-- ARGV[13]    limits     queue,worlds,cools_down: see parse_limits
-- ARGV[14]    joins      integer    joins that follow
-- ARGV[15]    count      integer    ids that follow them; with none nothing is matched
-- ARGV[16..]  player id, generation ('' = not a session's), key, fingerprint; for each; then match id, rooms name=uuid;…; for each
-- Returns     {1, own part of what was told, now_ms, more 0|1, matches, players, parked, wait sum ms, opens_at_ms,
--             where the walk goes on, mean wait 'ms,at_ms' or '', the queue's size before, then for each join 1 joined|place|record
--             ('' where this call matched it; it is behind all before it), or 2 repeated|place|position|size|record, -5 already
--             queued|place, -6 in match|match|ends_ms, -13 in proposal|match|ends_ms, -14 cooled down|until_ms, or another
--             code}
-- Touches     as extract_group, and rc:<world>,<a>,<b>
-- Cost        O(width log n) whatever the queue holds, and about 1,000 lookups of who has met
-- @include match
-- @include worlds
local world, revision, after, width, terms, drain_ms, scan =
  ARGV[5], ARGV[6], ARGV[7], tonumber(ARGV[8]), parse_terms(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
local cooldown_ms, limits, joins, count = tonumber(ARGV[12]), ARGV[13], tonumber(ARGV[14]), tonumber(ARGV[15])
-- @include add_to_queue
-- @include scan_queue
-- @include form_match
-- @include rate_limit
-- @include seats
-- @include seat_players
-- @include rematch
if cooldown_ms > 0 then terms.rematch = int(cooldown_ms) end
local refused = world_check(world, revision)
if refused ~= 0 then return finish({refused}) end
add_to_queue(16, joins, limits)

-- may_sit lets a player into a match in which it met nobody lately.
local function may_sit(member, match)
  local keys = {}
  for i, other in ipairs(match.players) do
    keys[i] = met(world, member.player, other)
  end
  lookups = lookups + #keys
  for _, text in ipairs(mget(keys)) do
    if is_apart(text) then return false end
  end
  return true
end
if cooldown_ms == 0 then may_sit = anybody end

-- AHEAD_MAX is how many of those ahead a block is tried with in one call.
local AHEAD_MAX = 50

-- first_unmet is which of the tickets ahead, the oldest first, may meet another; nothing if none may.
local function first_unmet(ahead, ticket)
  if cooldown_ms == 0 then return ahead[1] and 1 end
  local from, step = 1, scan
  while from <= #ahead do
    local keys = {}
    for i = from, math.min(from + step - 1, #ahead) do
      keys[#keys + 1] = met(world, ahead[i].player, ticket.player)
    end
    lookups = lookups + #keys
    for i, text in ipairs(mget(keys)) do
      if not is_apart(text) then return from + i - 1 end
    end
    from, step = from + #keys, math.min(step * 2, AHEAD_MAX)
  end
end

-- find_pairs tries each ticket of a block, in its order, with those ahead, the oldest first, and with those of the block
-- before it if among_themselves. It returns the pairs in the order of their older tickets, and how many of the block it
-- came to.
local function find_pairs(ahead, block, among_themselves)
  local pairs_found, tried = {}, 0
  for i, ticket in ipairs(block) do
    if lookups >= LOOKUPS_MAX then break end
    tried = i
    local at = first_unmet(ahead, ticket)
    if at then
      pairs_found[#pairs_found + 1] = {table.remove(ahead, at), ticket}
    elseif among_themselves then
      ahead[#ahead + 1] = ticket
    end
  end
  table.sort(pairs_found, function(x, y) return tonumber(x[1].place) < tonumber(y[1].place) end)
  return pairs_found, tried
end

-- keep_seated_apart notes who has met whom by taking a seat.
local function keep_seated_apart()
  for room, members in pairs(seated_in) do
    for _, member in ipairs(members) do
      keep_apart(world, member.player, room.match.players, cooldown_ms)
    end
  end
end

-- form_pairs forms matches of the first pairs, as many as may be. One that is held keeps its players apart when it stands.
local function form_pairs(pairs_found, ids, most)
  for i = 1, math.min(#pairs_found, most) do
    local pair = pairs_found[i]
    local match = form_match(world, ids[i].id, ids[i].rooms, pair, terms)
    if cooldown_ms > 0 and not is_held(match) then keep_apart(world, pair[1].player, {pair[2].player}, cooldown_ms) end
  end
end

-- The walk: every ticket is tried with all before it, the oldest first, so that it meets the oldest that it fits. Those up
-- to `done` were. The others come to it in blocks, one behind `done` and up to `to` ('0': as far as a call gets). The
-- block is first offered the open rooms, of which it knows the first `offered` already ('-': all), and then tried with
-- those ahead of it, of whom those up to `tried` were.
local done, to, offered, tried = string.match(after, '^(%d+),(%d+),([%d-]+),(%d+)$')
if not done then done, to, offered, tried = '0', '0', '0', '0' end
local function walk_at(...) return table.concat({...}, ',') end

-- pair_block tries a block that no room takes, and returns where the walk goes on, whether it does, and whether matches
-- are held back.
local function pair_block(block, full, ids, allowed)
  local ahead, more_ahead, reached, most = {}, false, tried, math.min(#ids, allowed)
  if done ~= '0' and #block > 0 then ahead, more_ahead, reached = read_window(AHEAD_MAX, tried, done) end
  local pairs_found, n = find_pairs(ahead, block, not more_ahead)
  form_pairs(pairs_found, ids, most)
  if #pairs_found > most then return after, true, most == allowed end
  if n == 0 and #block > 0 then return walk_at(done, to, '-', tried), true end
  if n < #block then to, full = block[n].place, true end
  if more_ahead then return walk_at(done, to, '-', reached), true end
  return walk_at(to, '0', '0', '0'), full
end

-- walk does the walk's next step, and returns as pair_block does.
local function walk(ids, allowed)
  local block, full, reached = read_window(width, done, to)
  if to == '0' then to = reached else full = true end
  if offered == '-' then return pair_block(block, full, ids, allowed) end
  local rest, rooms, more_rooms, cut = seat_all(world, block, tonumber(offered), may_sit)
  if cooldown_ms > 0 then keep_seated_apart() end
  if cut then to, full = cut, true end
  if more_rooms then return walk_at(done, to, seats_taken > 0 and 0 or int(rooms), '0'), true end
  return pair_block(rest, full, ids, allowed)
end

local more, opens_at_ms = 0, closed and ready_at_ms or 0
if count > 0 and not closed then
  local allowed, next_at_ms = may_form(world, terms)
  local goes_on, held_back
  after, goes_on, held_back = walk(unused_ids(16 + joins * JOIN_ARGS, count), allowed)
  tell_seated()
  if held_back then
    opens_at_ms = math.max(next_at_ms, now_ms + 100)
  elseif goes_on then
    more = 1
  end
end
return settle(more, opens_at_ms, more == 1 and after or '')
