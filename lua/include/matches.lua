-- matches: what becomes of the players of a match, and the writing of what changed. Needs match_store, match_news,
-- open_counts, writes and tell.
local requeued = {}

-- first_stage is what a player's record says at first of a match that stands: in one with seats, by when it is to say
-- that it is there.
local function first_stage(player, terms)
  if terms.seats == 0 then return '' end
  if terms.seat_hold_ms > 0 then seat_holds[player] = int(now_ms + terms.seat_hold_ms) end
  return 's'
end

-- bind has a player's record name a match. Of a match that is held the tickets keep their places; otherwise they end.
local function bind(player, id, match, stage, version)
  local held, record = is_held(match), load(player)
  if #record.tickets > 0 then
    if held then unqueue(player) else take_out(player) end
  end
  record.match, record.ends, record.acked = id, match.ends, held and 'h' or stage
  save(player, version)
end

-- unbind has a player's record name no match any more.
local function unbind(record, player)
  if record.acked == 's' then seat_holds[player] = false end
  record.match, record.ends, record.acked = '', '', ''
end

-- tell_requeued tells those who are back at their places where they stand, once that is written.
local function tell_requeued()
  for _, back in ipairs(requeued) do
    local ranks = ranks_of(back.player, load(back.player))
    if ranks ~= '' and back.presence.state == 'L' then
      tell(back.presence.instance, 'Q ' .. back.player .. ' ' .. back.presence.generation .. ' ' .. back.match .. ' ' .. int(now_ms) .. ' ' .. ranks)
    end
  end
end

-- flush_matches writes; flush comes before it.
local function flush_matches()
  local set, gone = {}, {}
  for id, text in pairs(match_texts) do
    if text then
      set[#set + 1] = id
      set[#set + 1] = text
    else
      gone[#gone + 1] = id
    end
  end
  write_many('HSET', prefix .. 'm', set)
  write_many('HDEL', prefix .. 'm', gone)
  flush_scores(prefix .. 'mx', match_ends)
  for key, rooms in pairs(open_rooms) do
    flush_scores(key, rooms)
  end
  flush_scores(prefix .. 'al', allocations)
  write_many('HDEL', prefix .. 'an', attempts_over)
  flush_open_changes()
  tell_changes()
  tell_requeued()
end
