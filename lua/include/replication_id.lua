-- replication_id: the history that Redis' data belong to. A restart and a promotion change it.
local function history()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end
