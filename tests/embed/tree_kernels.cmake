# baton_cuda_kernels(), baton_cpu_kernels() and baton_vulkan_kernels(), with Ninja and with Makefiles: a kernel is made anew when
# a header that it includes was edited, and nothing is made when nothing was.
#
#   cmake -DSOURCE=<tree> -DWORK=<folder> -DC_COMPILER=... -DCXX_COMPILER=... -P tree_kernels.cmake
cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/../support/run.cmake)

# Of each file that holds a kernel its bytes, as programs include them.
function(kernels_in folder out)
  file(GLOB headers ${folder}/kernels_kernels/*.hpp)
  set(all "")
  foreach(header IN LISTS headers)
    file(SHA256 ${header} hash)
    get_filename_component(name ${header} NAME)
    list(APPEND all "${name}=${hash}")
  endforeach()
  set(${out} "${all}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(COPY ${SOURCE}/tests/embed/tree_project DESTINATION ${WORK})
find_program(MAKE make)
foreach(generator Ninja "Unix Makefiles")
  if(generator STREQUAL "Unix Makefiles" AND NOT MAKE)
    message(STATUS "skipped: there is no make")
    continue()
  endif()
  string(MAKE_C_IDENTIFIER "${generator}" folder)
  set(folder ${WORK}/${folder})
  file(WRITE ${WORK}/tree_project/factor.h "#define FACTOR 3.0f\n")
  run("Configuring" ${CMAKE_COMMAND} -S ${WORK}/tree_project -B ${folder} -G ${generator} -DCMAKE_C_COMPILER=${C_COMPILER}
    -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DBATON_SOURCE=${SOURCE})
  run("Building" ${CMAKE_COMMAND} --build ${folder})
  kernels_in(${folder} before)
  list(LENGTH before count)
  if(count LESS 2)
    message(FATAL_ERROR "${generator}: the kernels are ${before}.")
  endif()
  run("Building again" ${CMAKE_COMMAND} --build ${folder} --verbose)
  if(output MATCHES "-x cuda|-none-elf|glslc|glslang")
    message(FATAL_ERROR "${generator}: kernels were made without a reason:\n${output}")
  endif()
  execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1)  # Makefiles compare times of files.
  file(WRITE ${WORK}/tree_project/factor.h "#define FACTOR 5.0f\n")
  run("Building with another header" ${CMAKE_COMMAND} --build ${folder})
  kernels_in(${folder} after)
  foreach(kernel IN LISTS after)
    if(kernel IN_LIST before)
      message(FATAL_ERROR "${generator}: a header was edited, and this kernel is as it was: ${kernel}")
    endif()
  endforeach()
endforeach()
