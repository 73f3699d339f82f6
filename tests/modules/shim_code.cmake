# Disassembles OBJECT and fails when the shim in it has more than INSTRUCTIONS_MAX instructions or calls anything:
# (int32_t, int32_t) -> int32_t is state, two loads, the sum, a store, a null status and the return.
execute_process(COMMAND objdump -d --no-show-raw-insn --no-addresses ${OBJECT} OUTPUT_VARIABLE code COMMAND_ERROR_IS_FATAL ANY)
if(NOT code MATCHES "shim[^\n]*Adder[^\n]*>:\n([^<]*ret)")
  message(FATAL_ERROR "There is no shim of Adder in ${OBJECT}, or it refers to other code.")
endif()
string(REGEX MATCHALL "\n" ends "${CMAKE_MATCH_1}")
list(LENGTH ends lines)
math(EXPR count "${lines} + 1")
message(STATUS "The shim of (int32_t, int32_t) -> int32_t has ${count} instructions.")
if(count GREATER INSTRUCTIONS_MAX)
  message(FATAL_ERROR "More than ${INSTRUCTIONS_MAX} instructions:\n${CMAKE_MATCH_1}")
endif()
