# baton_cpu_kernels(<target> <source>... [NAME <name>] [FLAGS flags] [X86_64_FLAGS flags] [AARCH64_FLAGS flags]): compiles CPU
# kernels in C or C++ (hal/drivers/local/cpu_kernel.h) to one freestanding ELF file for each architecture, and puts their bytes into
# <name>_elf.hpp, which <target> may include: arrays <name>_x86_64 and <name>_aarch64, for Device::make_executable with the
# formats "embedded-elf-x86_64" and "embedded-elf-aarch64". The name is that of the first source where none is given. Kernels
# have no libc; what compilers call of one on their own comes with them, and so do functions and headers of math.h, cmath,
# string.h and cstring (bare_calls.cmake). What they may use of the processor beyond its oldest model is said by flags, as in X86_64_FLAGS -mavx2 -mfma.
include(${CMAKE_CURRENT_LIST_DIR}/check_arguments.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/bare_calls.cmake)
find_program(BATON_BARE_CLANG NAMES clang-19 clang)
find_program(BATON_BARE_LLD NAMES ld.lld-19 ld.lld)

function(baton_cpu_kernels target)
  cmake_parse_arguments(ARG "" "NAME" "FLAGS;X86_64_FLAGS;AARCH64_FLAGS" ${ARGN})
  baton_check_target("baton_cpu_kernels(${target})" ${target})
  set(sources)
  foreach(source IN LISTS ARG_UNPARSED_ARGUMENTS)
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  if(NOT sources)
    message(FATAL_ERROR "baton_cpu_kernels(${target}): no source is given")
  endif()
  list(GET sources 0 first)
  get_filename_component(stem ${first} NAME_WE)
  if(ARG_NAME)
    set(stem ${ARG_NAME})
  endif()
  baton_check_files("baton_cpu_kernels(${target})" ${sources})
  baton_check_name("baton_cpu_kernels(${target})" ${stem})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels)
  set(header ${folder}/${stem}_elf.hpp)
  set(elfs)
  set(sdk Baton::module_sdk)
  baton_bare_includes()
  if(NOT BATON_BARE_CLANG OR NOT BATON_BARE_LLD)
    message(FATAL_ERROR "baton_cpu_kernels(${target}): CPU kernels are made by clang-19 and ld.lld-19, which are not here")
  endif()
  baton_claim_file("baton_cpu_kernels(${target})" ${folder}/${stem}_x86_64.elf "take another NAME")
  foreach(architecture x86_64 aarch64)
    set(elf ${folder}/${stem}_${architecture}.elf)
    string(TOUPPER ${architecture} upper)
    set(objects)
    set(stems)
    foreach(source IN LISTS sources)
      baton_own_stem(name ${source} stems)
      set(language -std=c17)
      if(NOT source MATCHES "\\.c$")
        set(language -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics)
      endif()
      set(object ${folder}/${stem}_${architecture}_${name}.o)
      add_custom_command(
        OUTPUT ${object}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
        COMMAND ${BATON_BARE_CLANG} -target ${architecture}-none-elf ${language} -O2 -fPIC -fvisibility=hidden -ffreestanding
          "-I$<JOIN:$<TARGET_PROPERTY:${sdk},INTERFACE_INCLUDE_DIRECTORIES>,;-I>" ${bare_includes} ${ARG_FLAGS} ${ARG_${upper}_FLAGS}
          -MD -MF ${object}.d -c ${source} -o ${object}
        DEPENDS ${source}
        DEPFILE ${object}.d
        COMMAND_EXPAND_LISTS
        VERBATIM)
      list(APPEND objects ${object})
    endforeach()
    baton_bare_calls(${folder}/${stem}_${architecture} ${architecture})
    add_custom_command(
      OUTPUT ${elf}
      COMMAND ${BATON_BARE_LLD} --build-id=none -nostdlib -shared --no-undefined --gc-sections -z now -z relro
        --discard-all --hash-style=sysv --strip-debug ${objects} ${bare_calls} -o ${elf}
      DEPENDS ${objects} ${bare_objects}
      COMMAND_EXPAND_LISTS
      VERBATIM)
    list(APPEND elfs ${elf})
  endforeach()
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${elfs}" -DHEADER=${header} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_files.cmake
    DEPENDS ${elfs} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_files.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${header})
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
