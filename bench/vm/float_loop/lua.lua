-- x := x * a + b, each step waiting for the last, in a counted loop.
local function run(n)
  local x, a, b = 1.0, 0.9999, 0.25
  local i = 0
  while i < n do
    x = x * a + b
    i = i + 1
  end
  return x
end
return run
