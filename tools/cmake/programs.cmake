# baton_program(<target> <source> [NAME <name>] [FLAGS ...] [DEPENDS ...]): the program <stem>.bvm, or <name>.bvm, in the current
# build folder, compiled from <stem>.mlir or assembled from <stem>.bvmasm; <target> makes it. In our tree with our tools, in a project that
# finds the installed package with the installed ones (component `tools`, and `compiler` for .mlir).
include(${CMAKE_CURRENT_LIST_DIR}/check_arguments.cmake)

function(baton_program target source)
  cmake_parse_arguments(ARG "" "NAME" "FLAGS;DEPENDS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "baton_program(${target}) takes one source, NAME, FLAGS and DEPENDS (${ARG_UNPARSED_ARGUMENTS})")
  elseif(NOT source MATCHES "\\.(mlir|bvmasm)$")
    message(FATAL_ERROR "baton_program(${target}): '${source}' is neither *.mlir nor *.bvmasm")
  endif()
  get_filename_component(stem ${source} NAME_WE)
  if(ARG_NAME)
    set(stem ${ARG_NAME})
  endif()
  get_filename_component(source ${source} ABSOLUTE)
  baton_check_files("baton_program(${target})" ${source})
  set(tool baton-as)
  if(source MATCHES "\\.mlir$")
    set(tool baton-compile)
  endif()
  if(NOT TARGET Baton::${tool})
    message(FATAL_ERROR "baton_program(${target}): '${source}' needs ${tool}, which is not installed with this Baton")
  endif()
  set(module ${CMAKE_CURRENT_BINARY_DIR}/${stem}.bvm)
  baton_claim_file("baton_program(${target})" ${module} "say NAME for one of them")
  add_custom_command(OUTPUT ${module}
    COMMAND Baton::${tool} ${source} ${ARG_FLAGS} -o ${module}
    DEPENDS ${source} Baton::${tool} ${ARG_DEPENDS}
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${module})
endfunction()
