-- rematch: the same two do not meet again in a world for a while. Needs prelude.
-- met is the key that keeps two players apart, the same for both orders.
local function met(world, a, b)
  local first, second = a, b
  if b < a then first, second = b, a end -- not a, b = b, a: the embedded Redis' Lua loses one
  return prefix .. 'rc:' .. world .. ',' .. first .. ',' .. second
end

-- is_apart reports whether two players are kept apart still, by what their key says: until when, or 1 of an older version,
-- whose key ends then.
local function is_apart(text)
  return text and (text == '1' or tonumber(text) > now_ms)
end

-- keep_apart notes that a player has met others.
local function keep_apart(world, player, others, cooldown_ms)
  local until_ms, ttl_ms = int(now_ms + cooldown_ms), int(cooldown_ms * 1.1) -- by an older version the key is the cooldown
  for i = 1, #others do
    if others[i] ~= player then redis.call('SET', met(world, player, others[i]), until_ms, 'PX', ttl_ms) end
  end
end
