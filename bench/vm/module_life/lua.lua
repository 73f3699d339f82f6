-- A tiny module: one internal function, one export.
local function twice(x) return x + x end
local function run(x) return twice(x) + 1 end
return run
