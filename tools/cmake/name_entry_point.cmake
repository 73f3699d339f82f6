# Gives the entry point of a shader that glslc has written as text its name, and takes out the constant gl_WorkGroupSize as a built-in:
# in SPIR-V it would count for all entry points of a module that this one is linked into.
file(READ ${ASSEMBLY} text)
string(REGEX REPLACE "(OpEntryPoint GLCompute %[A-Za-z0-9_]+) \"main\"" "\\1 \"${NAME}\"" text "${text}")
string(REGEX REPLACE "[ \t]*OpDecorate %[A-Za-z0-9_]+ BuiltIn WorkgroupSize\n" "" text "${text}")
file(WRITE ${ASSEMBLY} "${text}")
