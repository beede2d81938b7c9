-- end_ticket: a waiting ticket ends without a match and without being asked; its player is told.
-- Needs writes and tell.
local function end_ticket(player, world, reason, presence)
  for _, t in ipairs(take_out(player, world)) do
    save(player)
    local notice = note(player, 'dequeued', t.world, t.world .. '.' .. t.place, reason)
    tell_player(player, presence, notice)
  end
end
