# run(what command...): the command ends well, and `output` is what it printed; `what` says in a failure what was being done.
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code}):\n${output}${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
