-- Add, compare, branch: a while loop, because a numeric `for` is one fused instruction in Lua.
local function run(n)
  local i = 0
  while i < n do i = i + 1 end
  return i
end
return run
