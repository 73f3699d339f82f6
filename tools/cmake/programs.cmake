# baton_program(<target> <source> [NAME <name>] [FLAGS ...] [DEPENDS ...]): the program <stem>.bvm, or <name>.bvm, in the current
# build folder, compiled from <stem>.mlir or assembled from <stem>.bvmasm; <target> makes it. In our tree with our tools, in a project that
# finds the installed package with the installed ones (component `tools`, and `compiler` for .mlir).
#
# baton_import_triton(<target> <kernel.json> <kernel.cubin> [NAME <name>] [SIGNATURE <types or kernel.ttir>] [GRID_RANK <1 to 3>] [FUNCTIONS <file.mlir>]):
# <stem>.mlir, or <name>.mlir, in the current build folder: a kernel of Triton's as an executable (baton-import-triton), before the functions of a
# file that dispatch it. A source of baton_program().
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

function(baton_import_triton target metadata cubin)
  cmake_parse_arguments(ARG "" "NAME;SIGNATURE;GRID_RANK;FUNCTIONS" "" ${ARGN})
  set(what "baton_import_triton(${target})")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${what} takes two files, NAME, SIGNATURE, GRID_RANK and FUNCTIONS (${ARG_UNPARSED_ARGUMENTS})")
  elseif(NOT TARGET Baton::baton-import-triton)
    message(FATAL_ERROR "${what} needs baton-import-triton, which is not installed with this Baton")
  endif()
  get_filename_component(stem ${metadata} NAME_WE)
  if(ARG_NAME)
    set(stem ${ARG_NAME})
  endif()
  get_filename_component(metadata ${metadata} ABSOLUTE)
  get_filename_component(cubin ${cubin} ABSOLUTE)
  set(inputs ${metadata} ${cubin})
  set(flags)
  if(ARG_SIGNATURE MATCHES "\\.ttir$")
    get_filename_component(ARG_SIGNATURE ${ARG_SIGNATURE} ABSOLUTE)
    list(APPEND inputs ${ARG_SIGNATURE})
  endif()
  if(ARG_SIGNATURE)
    list(APPEND flags --signature=${ARG_SIGNATURE})
  endif()
  if(ARG_GRID_RANK)
    list(APPEND flags --grid-rank=${ARG_GRID_RANK})
  endif()
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${stem}.mlir)
  set(append)
  if(ARG_FUNCTIONS)
    get_filename_component(functions ${ARG_FUNCTIONS} ABSOLUTE)
    list(APPEND inputs ${functions})
    set(append COMMAND ${CMAKE_COMMAND} -E cat ${made}.kernel ${functions} > ${made})
  else()
    set(append COMMAND ${CMAKE_COMMAND} -E copy ${made}.kernel ${made})
  endif()
  baton_check_files("${what}" ${inputs})
  baton_claim_file("${what}" ${made} "say NAME for one of them")
  add_custom_command(OUTPUT ${made}
    COMMAND Baton::baton-import-triton ${metadata} ${cubin} ${flags} -o ${made}.kernel
    ${append}
    BYPRODUCTS ${made}.kernel
    DEPENDS ${inputs} Baton::baton-import-triton
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${made})
endfunction()
