-- record: a player's record as a table and as text: version|match|until|acked|tickets,
-- a ticket as world=place,n,key,print,ended,leader. Numbers stay text: they are only compared. Behind the print of
-- a client's key stands the position that the join was answered with: print:position. acked is '' or 1 of a match that
-- stands, s or t of a seat (t: taken up), and h of a match that is held.
local function parse_record(text)
  if not text then
    return {version = '0', match = '', ends = '', acked = '', tickets = {}}
  end
  local version, match, ends, acked, rest = string.match(text, '^(%d+)|([^|]*)|([^|]*)|([^|]*)|(.*)$')
  local tickets = {}
  local shape = '([^=;]+)=(%d+),(%d+),([^,;]*),([^,;]*),([^,;]*),([^,;]*)'
  for world, place, n, key, print, ended, leader in string.gmatch(rest, shape) do
    tickets[#tickets + 1] = {world = world, place = place, n = n, key = key, print = print, ended = ended, leader = leader}
  end
  return {version = version, match = match, ends = ends, acked = acked, tickets = tickets}
end

-- format_record is the record's text, which is kept until the record is saved again.
local function format_record(record)
  if record.text then return record.text end
  local text = record.version .. '|' .. record.match .. '|' .. record.ends .. '|' .. record.acked .. '|'
  local tickets = record.tickets
  for i = 1, #tickets do
    local t = tickets[i]
    text = text .. (i > 1 and ';' or '') .. t.world .. '=' .. t.place .. ',' .. t.n .. ',' .. t.key .. ',' .. t.print .. ',' .. t.ended .. ',' .. t.leader
  end
  record.text = text
  return text
end

-- ticket_in is the record's ticket in a world, one that waits or the last that ended.
local function ticket_in(record, world)
  local tickets = record.tickets
  for i = 1, #tickets do
    if tickets[i].world == world then return tickets[i], i end
  end
end

local function is_waiting(ticket)
  return ticket.ended == ''
end

-- is_idle tells of a record that says nothing: it need not be kept.
local function is_idle(record)
  return record.match == '' and #record.tickets == 0
end

-- is_bound tells of a player in a match that does not stand yet: its tickets keep their places, out of the queues.
local function is_bound(record)
  return record.acked == 'h'
end

-- has_seat tells of a player whose seat others would like to have, should it be gone.
local function has_seat(record)
  return record.acked == 's' or record.acked == 't'
end
