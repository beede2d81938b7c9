-- stream: what becomes of matches and tickets, for whoever keeps a record of it. Where nobody reads it, only formation
-- and end are kept, and not for long; where somebody does, everything until it was read, up to a bound. Needs prelude.
local KEPT_UNREAD, KEPT_FOR_READERS = '10000', '1000000'
local function stream(event, id, text, reason)
  write_last('XADD', prefix .. 'st', 'MAXLEN', '~', is_read and KEPT_FOR_READERS or KEPT_UNREAD, '*',
    'event', event, 'match', id, 'at', now_text, 'record', text, 'reason', reason or '')
end

local function stream_if_read(event, id, text)
  if is_read then stream(event, id, text) end
end

local function stream_dequeued(player, world, ticket, reason, notice)
  if is_read then
    write_last('XADD', prefix .. 'st', 'MAXLEN', '~', KEPT_FOR_READERS, '*', 'event', 'player_dequeued', 'at', int(now_ms),
      'player', player, 'world', world, 'ticket', ticket, 'reason', reason, 'notice', notice)
  end
end
