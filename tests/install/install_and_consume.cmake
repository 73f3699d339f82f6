# Installs the build into an empty prefix, then configures, builds and runs the consumer against that prefix alone.
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code}):\n${output}${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(prefix ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${WORK_DIR})
run("Installing" ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})

run("Assembling with the installed tool" ${prefix}/bin/baton-as ${SOURCE_DIR}/consumer/add.bvmasm -o ${WORK_DIR}/add.bvm)

run("Configuring the consumer" ${CMAKE_COMMAND} -S ${SOURCE_DIR}/consumer -B ${WORK_DIR}/build -G Ninja
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER})
run("Building the consumer" ${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run("Running the consumer" ${WORK_DIR}/build/consumer ${WORK_DIR}/add.bvm)
if(NOT output STREQUAL "2 + 3 = 5\n")
  message(FATAL_ERROR "The consumer printed '${output}' in place of '2 + 3 = 5'.")
endif()

run("Assembling with the installed tool" ${prefix}/bin/baton-as ${SOURCE_DIR}/consumer/fill.bvmasm -o ${WORK_DIR}/fill.bvm)
run("Running the consumer with a device" ${WORK_DIR}/build/device ${WORK_DIR}/fill.bvm)
if(NOT output STREQUAL "filled with 1799\n")
  message(FATAL_ERROR "The consumer with a device printed '${output}' in place of 'filled with 1799'.")
endif()

set(ENV{PKG_CONFIG_PATH} ${prefix}/lib/pkgconfig:${prefix}/lib/x86_64-linux-gnu/pkgconfig)
run("Asking pkg-config" pkg-config --define-prefix --cflags --libs baton)
separate_arguments(flags UNIX_COMMAND "${output}")
run("Compiling C with pkg-config's flags"
  ${C_COMPILER} -std=c11 ${SOURCE_DIR}/consumer/add.c -o ${WORK_DIR}/add_c ${flags} -lm)
run("Running the C consumer" ${WORK_DIR}/add_c ${WORK_DIR}/add.bvm)
if(NOT output STREQUAL "2 + 3 = 5\n")
  message(FATAL_ERROR "The C consumer printed '${output}' in place of '2 + 3 = 5'.")
endif()
