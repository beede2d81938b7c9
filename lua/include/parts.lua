-- parts: commands with any number of arguments. Lua passes at most some 8,000 values to a function, the embedded Redis
-- fewer. So a list that may grow is passed on in parts, here and nowhere else. PART is even: pairs stay together.
local PART = 500

-- write_many runs a command that takes a key and any number of arguments; with none it does nothing.
local function write_many(command, key, args)
  for first = 1, #args, PART do
    redis.call(command, key, unpack(args, first, math.min(first + PART - 1, #args)))
  end
end

-- read_many runs a command that returns a value for each of its names, such as HMGET, in their order; false for one that is
-- not there.
local function read_many(command, key, names)
  local values = {}
  for first = 1, #names, PART do
    local part = redis.call(command, key, unpack(names, first, math.min(first + PART - 1, #names)))
    if #names <= PART then return part end
    for i = 1, #part do
      values[first + i - 1] = part[i]
    end
  end
  return values
end

-- append puts the items of a list behind those of another, and returns that.
local function append(list, more)
  for i = 1, #more do
    list[#list + 1] = more[i]
  end
  return list
end

-- mget returns the values of keys, in their order; false for a key that is not there.
local function mget(keys)
  local values = {}
  for first = 1, #keys, PART do
    local part = redis.call('MGET', unpack(keys, first, math.min(first + PART - 1, #keys)))
    if #keys <= PART then return part end
    for i = 1, #part do
      values[first + i - 1] = part[i]
    end
  end
  return values
end
