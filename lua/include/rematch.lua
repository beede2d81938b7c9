-- rematch: the same two do not meet again in a world for a while. Needs prelude.
-- met is the key that keeps two players apart, the same for both orders.
local function met(world, a, b)
  local first, second = a, b
  if b < a then first, second = b, a end -- not a, b = b, a: the embedded Redis' Lua loses one
  return prefix .. 'rc:' .. world .. ',' .. first .. ',' .. second
end

-- keep_apart notes that a player has met others.
local function keep_apart(world, player, others, cooldown_ms)
  for i = 1, #others do
    if others[i] ~= player then redis.call('SET', met(world, player, others[i]), '1', 'PX', cooldown_ms) end
  end
end
