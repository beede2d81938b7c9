-- sweep_deadlines: matches and records that have reached their time.

-- expire_match ends a match whose time has passed. Who was shown a prompt and did not answer is out; a prompt that was
-- never shown is nobody's fault.
local function expire_match(id, match)
  if match.state == 'complete' then
    end_match(id, match, 'match_ended', 'expired')
  elseif match.state == 'allocating' then
    cancel_match(id, match, 'allocation_failed', {})
  else
    local out = {}
    for _, player in ipairs(match.shown) do
      out[player] = not is_one_of(match.accepted, player)
    end
    cancel_match(id, match, 'timeout', out)
  end
end

local function expire_matches()
  local ids = due_members(prefix .. 'mx', now_text)
  preload_matches(ids)
  for _, id in ipairs(ids) do
    local match = match_of(id)
    if not afford(match and #match.players or 1) then return end
    if match then
      expire_match(id, match)
      matches_expired = matches_expired + 1
    else
      match_ends[id] = false
    end
  end
end

-- cancel_lost frees a player from a match that nobody brought back after a loss of history.
local function cancel_lost(player)
  local id = load(player).match
  if id ~= '' and not match_of(id) then free_lost(player, id) end
end

-- forget_records drops ended tickets that need not be remembered, and records that then say nothing.
local function forget_records()
  local players = due_members(prefix .. 'kp', now_text)
  preload(players)
  for _, player in ipairs(players) do
    afford(1)
    if kept[player] == nil then
      local record, rest = load(player), {}
      kept[player] = false
      for _, t in ipairs(record.tickets) do
        local until_ms = tonumber(t.ended) and t.ended + KEPT_MS
        if is_waiting(t) or until_ms > now_ms then rest[#rest + 1] = t end
        if until_ms and until_ms > now_ms then kept[player] = math.max(kept[player] or 0, until_ms) end
      end
      record.tickets = rest
      save(player, record.version) -- nothing that anybody was told has changed
      cancel_lost(player)
    end
  end
end
