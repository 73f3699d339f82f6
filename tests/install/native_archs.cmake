# Goal: ARCHS native of baton_embed_kernels() is what the machine's driver tells, each once; where there is no GPU it is an
# error that says what to write. Method: nvidia-smi is a script of ours; this file includes embed_kernels.cmake by itself.
if(CHILD)
  include(${SOURCE_DIR}/tools/cmake/embed_kernels.cmake)
  baton_native_archs(archs)
  message("archs: ${archs}")
  return()
endif()

# expect(pattern code lines...): an nvidia-smi that prints these lines and ends with that code.
function(expect pattern code)
  list(JOIN ARGN "\n" lines)
  file(WRITE ${WORK_DIR}/nvidia-smi "#!/bin/sh\ncat <<'END'\n${lines}\nEND\nexit ${code}\n")
  file(CHMOD ${WORK_DIR}/nvidia-smi PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  child("-DBATON_NVIDIA_SMI=${WORK_DIR}/nvidia-smi" "${pattern}")
endfunction()

function(child smi pattern)
  execute_process(COMMAND ${CMAKE_COMMAND} -DCHILD=1 ${smi} -DSOURCE_DIR=${SOURCE_DIR} -P ${CMAKE_SCRIPT_MODE_FILE}
    OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  string(REGEX REPLACE "[ \n]+" " " said "${output}${errors}")
  if(NOT said MATCHES "${pattern}")
    message(FATAL_ERROR "'${pattern}' was expected, and this was said: ${said}")
  endif()
endfunction()

file(MAKE_DIRECTORY ${WORK_DIR})
set(advice "Write the compute capabilities of those that the kernels are for: ARCHS 80 90")
expect("archs: 90 $" 0 "9.0")
expect("archs: 90;80;120 $" 0 "9.0" "8.0" "9.0" "12.0")
expect("there is none .No devices were found.*${advice}" 6 "No devices were found")
expect("there is none .*${advice}" 0 "")
child("-DBATON_NVIDIA_SMI=BATON_NVIDIA_SMI-NOTFOUND" "there is none .there is no nvidia-smi.*${advice}")
