-- An export that does nothing.
local function run() end
return run
