# baton_cpu_kernels(<target> <source.c>): compiles CPU kernels (hal/drivers/local/executable_library.h) to a freestanding ELF
# file for each architecture, and puts their bytes into <stem>_elf.hpp, which <target> may include: arrays <stem>_x86_64 and
# <stem>_aarch64, for Device::make_executable with the formats "embedded-elf-x86_64" and "embedded-elf-aarch64". A source
# defines BATON_EXECUTABLE_EXPORT baton_executable_library_query and needs no libc.
find_program(BATON_BARE_CLANG NAMES clang-19 clang)
find_program(BATON_BARE_LLD NAMES ld.lld-19 ld.lld)

function(baton_cpu_kernels target source)
  get_filename_component(stem ${source} NAME_WE)
  get_filename_component(source ${source} ABSOLUTE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels)
  set(header ${folder}/${stem}_elf.hpp)
  set(elfs)
  set(sdk Baton::module_sdk)
  if(NOT BATON_BARE_CLANG OR NOT BATON_BARE_LLD)
    message(FATAL_ERROR "baton_cpu_kernels(${target}): CPU kernels are made by clang-19 and ld.lld-19, which are not here")
  endif()
  foreach(architecture x86_64 aarch64)
    set(elf ${folder}/${stem}_${architecture}.elf)
    add_custom_command(
      OUTPUT ${elf}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${BATON_BARE_CLANG} -target ${architecture}-none-elf -std=c17 -O2 -fPIC -fvisibility=hidden -ffreestanding
        "-I$<JOIN:$<TARGET_PROPERTY:${sdk},INTERFACE_INCLUDE_DIRECTORIES>,;-I>" -c ${source}
        -o ${elf}.o
      COMMAND ${BATON_BARE_LLD} --build-id=none -nostdlib -shared --no-undefined --gc-sections -z now -z relro
        --discard-all --hash-style=sysv --strip-debug ${elf}.o -o ${elf}
      DEPENDS ${source}
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
