# baton_program(<target> <source> [FLAGS ...] [DEPENDS ...]): the program <stem>.bvm in the current build folder, compiled
# from <stem>.mlir or assembled from <stem>.bvmasm; <target> makes it. In our tree with our tools, in a project that
# finds the installed package with the installed ones (component `tools`, and `compiler` for .mlir).
function(baton_program target source)
  cmake_parse_arguments(ARG "" "" "FLAGS;DEPENDS" ${ARGN})
  get_filename_component(stem ${source} NAME_WE)
  get_filename_component(source ${source} ABSOLUTE)
  set(tool baton-as)
  if(source MATCHES "\\.mlir$")
    set(tool baton-compile)
  endif()
  if(NOT TARGET Baton::${tool})
    message(FATAL_ERROR "baton_program(${target}): '${source}' needs ${tool}, which is not installed with this Baton")
  endif()
  set(module ${CMAKE_CURRENT_BINARY_DIR}/${stem}.bvm)
  add_custom_command(OUTPUT ${module}
    COMMAND Baton::${tool} ${source} ${ARG_FLAGS} -o ${module}
    DEPENDS ${source} Baton::${tool} ${ARG_DEPENDS}
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${module})
endfunction()
