-- Sums integers out of memory. Lua has no byte buffer that its interpreter reads quickly; its own array stands in, which
-- favours Lua: an element is loaded without conversion.
local data

local function prepare(n)
  data = {}
  for i = 0, n - 1 do data[i] = i * 3 end
end

local function run(n)
  local data = data
  local sum, i = 0, 0
  while i < n do
    sum = sum + data[i]
    i = i + 1
  end
  return sum
end
return run, prepare
