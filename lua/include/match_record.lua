-- match_record: a match as a table and as text: state|version|epoch|world|created|ends|rooms|players|left, and for
-- one that is held or has seats, behind these |by|accepted|shown|endpoint|open|terms|taken, and |rematch of one that was held
-- in a world with a rematch cooldown: how long its players do not meet again, in milliseconds.
local function split(text)
  local list = {}
  if text == '' then return list end
  for item in string.gmatch(text, '[^;]+') do
    list[#list + 1] = item
  end
  return list
end

-- parse_match returns nil for a text that is no match: one damaged record must not fail the calls that read others.
local function parse_match(text)
  local state, version, formed_in, world, created, ends, rooms, players, left, rest =
    string.match(text, '^([^|]*)|(%d+)|(%d+)|([^|]*)|(%d+)|(%d+)|([^|]*)|([^|]*)|([^|]*)(.*)$')
  if not state then return nil end
  local by, accepted, shown, endpoint, open, terms, taken, rematch = '', '', '', '', '', '', '', ''
  if rest ~= '' then
    by, accepted, shown, endpoint, open, terms, taken, rematch =
      string.match(rest .. '||||||||', '^|(%d*)|([^|]*)|([^|]*)|([^|]*)|(%-?%d*)|([^|]*)|(%-?%d*)|(%d*)|')
    if not by then return nil end
  end
  return {state = state, version = version, epoch = formed_in, world = world, created = created, ends = ends,
    rooms = rooms, players = split(players), left = split(left), by = by, accepted = split(accepted),
    shown = split(shown), endpoint = endpoint, open = open, terms = terms, taken = taken, rematch = rematch}
end

local function format_match(match)
  local text = match.state .. '|' .. match.version .. '|' .. match.epoch .. '|' .. match.world .. '|' .. match.created .. '|' ..
    match.ends .. '|' .. match.rooms .. '|' .. table.concat(match.players, ';') .. '|' .. table.concat(match.left, ';')
  if match.terms == '' and match.open == '' then return text end -- it is as most are
  local more = table.concat({match.by, table.concat(match.accepted, ';'), table.concat(match.shown, ';'), match.endpoint,
    match.open, match.terms, match.taken}, '|')
  return text .. '|' .. more .. (match.rematch ~= '' and '|' .. match.rematch or '')
end

local function is_one_of(list, player)
  for at = 1, #list do
    if list[at] == player then return at end
  end
end

local function has_left(match, player)
  return is_one_of(match.left, player) ~= nil
end

-- is_held tells of a match that does not stand yet: its players' tickets stay in their records, out of the queues.
local function is_held(match)
  return match.state ~= 'complete'
end

-- parse_terms reads what a world's settings say of its matches. A match carries them from its formation to its end.
local function parse_terms(text)
  local hold_ms, accept_ms, cooldown_ms, allocate, seats, seat_hold_ms, at_most, within_ms =
    string.match(text, '^(%d+),(%d+),(%d+),(%d),(%d+),(%d+),(%d+),(%d+)$')
  return {text = text, hold_ms = tonumber(hold_ms or 0), accept_ms = tonumber(accept_ms or 0), cooldown_ms = tonumber(cooldown_ms or 0),
    allocate = allocate == '1', seats = tonumber(seats or 0), seat_hold_ms = tonumber(seat_hold_ms or 0), 
    at_most = tonumber(at_most or 0), within_ms = tonumber(within_ms or 0)}
end
