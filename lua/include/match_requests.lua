-- match_requests: what players ask of their matches, many in one call. Needs matches.
-- PLAYERS_MAX bounds how many players the matches of one call may have; what is behind is not done (0), and sent again.
local PLAYERS_MAX = 200
local before = int(last) -- what has a place up to it was so before these were asked

-- answer_each answers each player, generation, match that stands in the arguments by do_it, for a session that was
-- not taken over and whose record names the match. do_it is given the player's id, record, match id, presence and
-- generation ('' without a session). It returns how many players it looked at, and whether what became of the player is
-- in what is told, and not in the answer.
local function answer_each(first, count, do_it)
  local players, generations, answers, near = {}, {}, {}, 0
  for i = 1, count do
    local at = first + (i - 1) * 3
    players[i], generations[i] = ARGV[at], ARGV[at + 1]
  end
  preload(players)
  local presences = presences_of(players, generations)
  for i, player in ipairs(players) do
    local generation, id = generations[i], ARGV[first + (i - 1) * 3 + 2]
    local record = load(player)
    if is_older(generation, presences[i]) then
      answers[i] = {CODE_REPLACED}
    elseif id == '' or record.match ~= id then
      answers[i] = {CODE_NO_SUCH_MATCH}
    elseif near >= PLAYERS_MAX then
      answers[i] = {0}
    else
      local looked_at, is_told = do_it(player, record, id, presences[i], generation)
      near = near + looked_at
      answers[i] = {1, player, is_told}
    end
  end
  return answers
end

-- with_records adds to the answers the records as they are now, and the last place before.
local function with_records(reply, answers)
  for _, answer in ipairs(answers) do
    if answer[1] == 1 then answer = {1, answer[3] and '' or format_record(load(answer[2])), before} end
    reply[#reply + 1] = answer
  end
  return reply
end
