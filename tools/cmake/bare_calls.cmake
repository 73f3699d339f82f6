# Kernels for the CPU have no C library, and compilers call four functions of one on their own: memcpy, memmove, memset and
# memcmp, for structs and loops; others for numbers that a processor has not (halves, 128 bits). They, and functions of math.h,
# are the ones that programs get from the compiler, compiled by whoever links kernels.
find_program(BATON_BARE_CLANG NAMES clang-19 clang)

macro(baton_bare_folder)
  set(bare_folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/builtins)  # In an installed package.
  if(NOT EXISTS ${bare_folder})
    get_filename_component(bare_folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../compiler-lite/codegen/llvm/builtins ABSOLUTE)
  endif()
endmacro()

# Both for functions of this folder, which may be called above the folder that brings Baton and see no variable of it.
# baton_bare_includes(): `bare_includes` are flags for what kernels include of a C library, behind the user's folders.
macro(baton_bare_includes)
  baton_bare_folder()
  set(bare_includes -isystem ${bare_folder}/include)
endmacro()

# baton_bare_calls(<stem> <architecture>): makes the objects, `bare_objects`. `bare_calls` is what a linker takes of them: as
# much as is called and not the user's own.
macro(baton_bare_calls stem architecture)
  baton_bare_folder()
  set(bare_objects)
  foreach(bare_source calls c_math)
    add_custom_command(OUTPUT ${stem}_${bare_source}.o
      COMMAND ${BATON_BARE_CLANG} -target ${architecture}-none-elf -std=c17 -O2 -ffreestanding -fno-math-errno -fno-vectorize
        -fno-slp-vectorize -fPIC -fno-builtin -ffunction-sections -c ${bare_folder}/${bare_source}.c
        -o ${stem}_${bare_source}.o
      DEPENDS ${bare_folder}/${bare_source}.c ${bare_folder}/math.c VERBATIM)
    list(APPEND bare_objects ${stem}_${bare_source}.o)
  endforeach()
  set(bare_calls --start-lib ${bare_objects} --end-lib)
endmacro()
