# baton_kernel_objects(<target> FILES <file>... [FORMAT object|bitcode] [ARCHS x86_64 aarch64 75 90 ...] [OPTIONS ...])
# compiles functions and kernels that programs name in hal.executable.objects, for the compiler to link: the files lie in the
# current build folder, and their paths in the variable <target>_FILES, for FLAGS --object-search-path= and DEPENDS of
# baton_program(). <target> makes them, and so does every whole build.
#
#   FILES     *.c and *.cpp for the CPU, *.cu for CUDA.
#   FORMAT    object, if left out: add.c becomes add_x86_64.o and add_aarch64.o, add.cu the relocatable machine code add_sm_90.cubin.
#             bitcode: LLVM's, which is inlined into kernels: add_x86_64.bc, add_aarch64.bc, add_sm_75.bc.
#   ARCHS     x86_64 and aarch64 (or arm_64, as targets of programs call it) if left out; for *.cu compute capabilities, 75 in bitcode
#             if left out. Those of the other kind are nothing to a file.
#   OPTIONS   more for the compiler.
#
# The code uses no C library and no CUDA toolkit: clang-19 compiles all of it for machines without a system, and *.cu with
# cuda_names.h; ptxas of the toolkit assembles machine code. What a file includes is known to the build.
include(${CMAKE_CURRENT_LIST_DIR}/check_arguments.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/bare_calls.cmake)
find_program(BATON_PTXAS ptxas HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
find_program(BATON_BARE_CLANG NAMES clang-19 clang)

function(baton_check_kernel_objects what)
  if(NOT files OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${what} takes FILES, FORMAT, ARCHS and OPTIONS (${ARG_UNPARSED_ARGUMENTS})")
  elseif(NOT ARG_FORMAT MATCHES "^(object|bitcode)$")
    message(FATAL_ERROR "${what}: FORMAT is '${ARG_FORMAT}', and there are object and bitcode")
  endif()
  baton_check_files("${what}" ${files})
  foreach(file IN LISTS files)
    if(NOT file MATCHES "\\.(cu|c|cpp)$")
      message(FATAL_ERROR "${what}: '${file}' is neither *.cu nor *.c or *.cpp")
    endif()
  endforeach()
  foreach(arch IN LISTS ARG_ARCHS)
    if(NOT arch MATCHES "^([1-9][0-9]+[af]?|x86_64|aarch64|arm_64)$")
      message(FATAL_ERROR "${what}: ARCHS has '${arch}'; there are x86_64, aarch64 and compute capabilities, as in ARCHS x86_64 90")
    endif()
  endforeach()
  if(cuda_files AND NOT cuda_archs)
    message(FATAL_ERROR "${what}: machine code for GPUs needs ARCHS, as in ARCHS 80 90; FORMAT bitcode does without")
  elseif(cpu_files AND NOT cpu_archs)
    message(FATAL_ERROR "${what}: ARCHS is '${ARG_ARCHS}', and code for the CPU needs x86_64 or aarch64 there")
  elseif(NOT BATON_BARE_CLANG)
    message(FATAL_ERROR "${what}: objects are compiled by clang-19, which is not here; -DBATON_BARE_CLANG=<path> names it")
  elseif(cuda_files AND ARG_FORMAT STREQUAL "object" AND NOT BATON_PTXAS)
    message(FATAL_ERROR "${what}: machine code is made by ptxas of the CUDA toolkit, which is not here; FORMAT bitcode needs none")
  endif()
endfunction()

# <stem>_<suffix> of a source, by these flags; appends its path to `made_files`.
macro(baton_kernel_object file suffix)
  get_filename_component(stem ${file} NAME_WE)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${stem}_${suffix})
  baton_claim_file("${what}" ${made} "give files of one name to projects in different folders")
  add_custom_command(OUTPUT ${made}
    COMMAND ${BATON_BARE_CLANG} ${ARGN} -O2 "-I$<JOIN:$<TARGET_PROPERTY:Baton::module_sdk,INTERFACE_INCLUDE_DIRECTORIES>,;-I>" ${ARG_OPTIONS}
      -MD -MF ${made}.d -MT ${made} ${file} -o ${made}
    DEPENDS ${file} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cuda_names.h
    DEPFILE ${made}.d
    COMMAND_EXPAND_LISTS
    VERBATIM)
  list(APPEND made_files ${made})
endmacro()

function(baton_kernel_objects target)
  cmake_parse_arguments(ARG "" "FORMAT" "FILES;ARCHS;OPTIONS" ${ARGN})
  set(what "baton_kernel_objects(${target})")
  if(NOT ARG_FORMAT)
    set(ARG_FORMAT object)
  endif()
  baton_read_kernel_files()
  set(cuda_archs ${ARG_ARCHS})
  set(cpu_archs ${ARG_ARCHS})
  list(FILTER cuda_archs INCLUDE REGEX "^[1-9][0-9]+[af]?$")
  list(FILTER cpu_archs INCLUDE REGEX "^(x86_64|aarch64|arm_64)$")
  if(NOT ARG_ARCHS)
    set(cpu_archs x86_64 aarch64)
  endif()
  if(NOT cuda_archs AND ARG_FORMAT STREQUAL "bitcode")
    set(cuda_archs 75)
  endif()
  baton_check_kernel_objects("${what}")

  set(made_files)
  set(bitcode)
  set(ending o)
  if(ARG_FORMAT STREQUAL "bitcode")
    set(bitcode -emit-llvm)
    set(ending bc)
  endif()
  baton_bare_includes()
  foreach(file IN LISTS cpu_files)
    set(language -std=c17)
    if(NOT file MATCHES "\\.c$")
      set(language -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics)
    endif()
    foreach(arch IN LISTS cpu_archs)
      string(REPLACE arm_64 aarch64 machine ${arch})
      baton_kernel_object(${file} ${arch}.${ending} -target ${machine}-none-elf ${language} -fPIC -ffreestanding -fno-builtin
        -fvisibility=hidden ${bare_includes} ${bitcode} -c)
    endforeach()
  endforeach()
  foreach(file IN LISTS cuda_files)
    foreach(arch IN LISTS cuda_archs)
      set(cuda -x cuda --cuda-device-only --cuda-gpu-arch=sm_${arch} --cuda-path=/nonexistent -nocudainc -nocudalib
        -include ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cuda_names.h)
      if(ARG_FORMAT STREQUAL "bitcode")
        baton_kernel_object(${file} sm_${arch}.bc ${cuda} -emit-llvm -c)
      else()
        baton_kernel_object(${file} sm_${arch}.ptx ${cuda} -S)
        string(REGEX REPLACE "ptx$" "cubin" cubin ${made})
        add_custom_command(OUTPUT ${cubin} COMMAND ${BATON_PTXAS} -c -arch sm_${arch} ${made} -o ${cubin} DEPENDS ${made} VERBATIM)
        list(REMOVE_ITEM made_files ${made})
        list(APPEND made_files ${cubin})
      endif()
    endforeach()
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${made_files})
  set(${target}_FILES ${made_files} PARENT_SCOPE)
endfunction()
