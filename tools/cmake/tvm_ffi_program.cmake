# baton_tvm_ffi_program(<target> <source> [NAME <name>] [DEVICE <device>] [FLAGS ...] [DEPENDS ...]): <stem>.so, or <name>.so, a
# library of TVM-FFI with the program of <source> inside, an .mlir or .bvmasm file (baton_program) or a .bvm. Each export is a function of it:
# tvm_ffi.load_module("scale.so")["scale"](x).
#
#   DEVICE   where the program runs, "cuda://0"; left out, where the first tensor of a call lies
#   FLAGS    for baton-compile
#
# A project that finds the installed package has it with the components `device` and `tools`, and `compiler` for .mlir. The
# program finds the module hal, and no others. An export whose name is no name of C stays inside.
include(${CMAKE_CURRENT_LIST_DIR}/check_arguments.cmake)

function(baton_tvm_ffi_program target source)
  cmake_parse_arguments(ARG "" "NAME;DEVICE" "FLAGS;DEPENDS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "baton_tvm_ffi_program(${target}) takes one source, NAME, DEVICE, FLAGS and DEPENDS (${ARG_UNPARSED_ARGUMENTS})")
  endif()
  set(library Baton::device)
  if(NOT TARGET Baton::device)
    set(library baton::device)
  endif()
  if(NOT TARGET ${library} OR NOT TARGET Baton::baton-dump-module)
    message(FATAL_ERROR "baton_tvm_ffi_program(${target}) needs Baton's components device and tools")
  endif()
  get_filename_component(stem ${source} NAME_WE)
  if(ARG_NAME)
    set(stem ${ARG_NAME})
  endif()
  get_filename_component(program ${source} ABSOLUTE)
  baton_check_files("baton_tvm_ffi_program(${target})" ${program})
  baton_claim_file("baton_tvm_ffi_program(${target})" ${CMAKE_CURRENT_BINARY_DIR}/${stem}.so "say NAME for one of them")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_program)
  file(MAKE_DIRECTORY ${folder})
  set(made_by)
  if(NOT source MATCHES "\\.bvm$")
    baton_program(${target}_bvm ${source} NAME ${stem} FLAGS ${ARG_FLAGS} DEPENDS ${ARG_DEPENDS})
    set(program ${CMAKE_CURRENT_BINARY_DIR}/${stem}.bvm)
    set(made_by ${target}_bvm)
  endif()
  set(functions ${folder}/functions.inc)
  add_custom_command(OUTPUT ${functions}
    COMMAND ${CMAKE_COMMAND} -DDUMP=$<TARGET_FILE:Baton::baton-dump-module> -DPROGRAM=${program} -DOUTPUT=${functions}
      -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tvm_ffi_functions.cmake
    DEPENDS ${program} Baton::baton-dump-module ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tvm_ffi_functions.cmake
    VERBATIM)
  set(unit ${folder}/${stem}.cpp)
  file(CONFIGURE OUTPUT ${unit} @ONLY CONTENT "// Made by tvm_ffi_program.cmake: the program of @source@ as a library of TVM-FFI.
#include \"modules/tvm_ffi/embedded_program.hpp\"

__asm__(
    \".pushsection .rodata.baton_program,\\\"a\\\"\\n.balign 64\\n.hidden baton_program_begin\\n.globl baton_program_begin\\n\"
    \"baton_program_begin:\\n.incbin \\\"@program@\\\"\\n\"
    \".hidden baton_program_end\\n.globl baton_program_end\\nbaton_program_end:\\n.byte 0\\n.popsection\\n\");
extern \"C\" const std::byte baton_program_begin[] __attribute__((visibility(\"hidden\")));
extern \"C\" const std::byte baton_program_end[] __attribute__((visibility(\"hidden\")));

namespace {
baton::modules::tvm_ffi::EmbeddedProgram program({baton_program_begin, baton_program_end}, \"@ARG_DEVICE@\");
}
#define FUNCTION(symbol, name) BATON_TVM_FFI_FUNCTION(program, symbol, name)
#include \"functions.inc\"
")
  set_source_files_properties(${unit} PROPERTIES OBJECT_DEPENDS "${program};${functions}")
  add_library(${target} MODULE ${unit} ${functions})
  if(made_by)
    add_dependencies(${target} ${made_by})  # For Makefiles, where each target makes files of its own.
  endif()
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE ${library})
  # Nothing of Baton is seen from outside: another library may hold another version.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
  target_compile_options(${target} PRIVATE -fvisibility=hidden -Wno-reserved-identifier)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${stem})
endfunction()
