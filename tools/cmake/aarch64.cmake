# Toolchain for 64-bit ARM from an x86-64 machine: clang 19 with Debian's cross libraries (g++-aarch64-linux-gnu). What is
# built runs in qemu-user. Libraries come from the cross folder alone; of the host's /usr/include only what has no machine
# in it is met (flatbuffers, CLI11, JSON), because clang looks there last.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
foreach(language C CXX ASM)
  set(CMAKE_${language}_COMPILER_TARGET aarch64-linux-gnu)
endforeach()
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
add_link_options(-fuse-ld=lld)

set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)

find_program(BATON_QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(BATON_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${BATON_QEMU_AARCH64} -L ${CMAKE_FIND_ROOT_PATH})
endif()
