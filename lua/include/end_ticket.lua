-- end_ticket: waiting tickets end without a match and without being asked; their player is told.
-- Needs writes, tell and stream.
local function end_ticket(player, world, reason, presence)
  for _, t in ipairs(take_out(player, world)) do
    save(player)
    local id = t.world .. '.' .. t.place
    local notice = note(player, 'dequeued', t.world, id, reason)
    tell_player(player, presence, notice)
    stream_dequeued(player, t.world, id, reason, string.match(notice, '^%d+'))
  end
end
