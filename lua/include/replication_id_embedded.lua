-- history, embedded: the data live and die with the process, so there is only one.
local function history()
  return 'embedded'
end
