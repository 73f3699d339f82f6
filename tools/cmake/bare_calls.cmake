# Kernels for the CPU have no C library, and compilers call four functions of one on their own: memcpy, memmove, memset and
# memcmp, for structs and loops; others for numbers that a processor has not (halves, 128 bits). They are the ones that
# programs get from the compiler, compiled by whoever links kernels.
find_program(BATON_BARE_CLANG NAMES clang-19 clang)
set(BATON_BARE_CALLS ${CMAKE_CURRENT_LIST_DIR}/bare_calls.c)  # In an installed package.
if(NOT EXISTS ${BATON_BARE_CALLS})
  get_filename_component(BATON_BARE_CALLS ${CMAKE_CURRENT_LIST_DIR}/../../compiler-lite/codegen/llvm/builtins/calls.c ABSOLUTE)
endif()

# baton_bare_calls(<object> <architecture>): makes the object. `bare_calls` is what a linker takes of it: as much as is
# called and not the user's own.
macro(baton_bare_calls object architecture)
  add_custom_command(OUTPUT ${object}
    COMMAND ${BATON_BARE_CLANG} -target ${architecture}-none-elf -std=c17 -O2 -ffreestanding -fno-math-errno -fno-vectorize
      -fno-slp-vectorize -fPIC -fno-builtin -ffunction-sections -c ${BATON_BARE_CALLS} -o ${object}
    DEPENDS ${BATON_BARE_CALLS} VERBATIM)
  set(bare_calls --start-lib ${object} --end-lib)
endmacro()
