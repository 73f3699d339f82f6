-- Nine nested calls, each with twenty values that are needed after the call inside it returns.
local function wide(depth, seed)
  local v0, v1, v2, v3, v4, v5, v6, v7, v8, v9 = seed, seed + 1, seed + 2, seed + 3, seed + 4, seed + 5, seed + 6, seed + 7, seed + 8, seed + 9
  local v10, v11, v12, v13, v14, v15, v16, v17, v18, v19 = seed + 10, seed + 11, seed + 12, seed + 13, seed + 14, seed + 15, seed + 16, seed + 17, seed + 18, seed + 19
  local inner = 0
  if depth > 0 then inner = wide(depth - 1, seed + 1) end
  return inner + v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8 + v9
    + v10 + v11 + v12 + v13 + v14 + v15 + v16 + v17 + v18 + v19
end

local function run(n)
  local sum, i = 0, 0
  while i < n do
    sum = sum + wide(8, i)
    i = i + 1
  end
  return sum
end
return run
