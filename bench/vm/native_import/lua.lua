-- A loop whose body calls a C function of the host with two integers.
local mix = host.mix
local function run(n)
  local sum, i = 0, 0
  while i < n do
    sum = mix(sum, i)
    i = i + 1
  end
  return sum
end
return run
