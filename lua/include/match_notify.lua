-- match_notify: that matches changed, for the instances that hold their players. Needs match_store and tell.
local news, is_news = {}, {}

-- tell_members tells the instances of those in a match how it stands, and returns who is where.
local function tell_members(id, match, text)
  local presences = presences_of(match.players)
  for i, presence in ipairs(presences) do
    if presence.state == 'L' and not has_left(match, match.players[i]) then tell_match(presence.instance, id, text) end
  end
  return presences
end

-- tell_change has a match told to its players' instances as it stands when all is done, unless it is over by then.
local function tell_change(id)
  if not is_news[id] then news[#news + 1], is_news[id] = id, true end
end

-- TOLD_AT_ONCE bounds what one command reads.
local TOLD_AT_ONCE = 500

local function tell_changes()
  local players, ids = {}, {}
  local function tell_those()
    for i, presence in ipairs(presences_of(players)) do
      if presence.state == 'L' then tell_match(presence.instance, ids[i], match_texts[ids[i]]) end
    end
    players, ids = {}, {}
  end
  for _, id in ipairs(news) do
    local match = loaded_matches[id]
    for _, player in ipairs(match and match.players or {}) do
      if not has_left(match, player) then players[#players + 1], ids[#ids + 1] = player, id end
    end
    if #players >= TOLD_AT_ONCE then tell_those() end
  end
  if #players > 0 then tell_those() end
end
