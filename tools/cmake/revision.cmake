# Writes OUTPUT, a header with the commit that SOURCE stands at, unless it says so already; where there is no git, with none.
#   cmake -DSOURCE=<tree> -DOUTPUT=<file> -P revision.cmake
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  set(commit "")
endif()
set(text "#define BATON_REVISION \"${commit}\"\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
