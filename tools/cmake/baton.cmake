# How every target of the house is made: baton_library, baton_tool, baton_test, baton_fuzzer.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

find_program(BATON_CCACHE ccache)
if(BATON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${BATON_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${BATON_CCACHE})
endif()

set(BATON_SANITIZE "" CACHE STRING "Sanitizers to build everything with, as in -fsanitize=")
if(BATON_SANITIZE)
  add_compile_options(-fsanitize=${BATON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BATON_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # vm::NativeCall and baton_call are the same bytes under two names (modules/native_module.cpp proves it), so functions that
    # take one are called as if they took the other. Only this check is blind to that.
    add_compile_options(-fno-sanitize=function)
  endif()
endif()

# Fuzzers need clang; then all code tells them which branches it took. AddressSanitizer notices what they find, and runs another
# step loop than users do: with fuzzer-no-link alone it is theirs.
if(BATON_SANITIZE MATCHES "address|fuzzer-no-link" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(BATON_FUZZERS ON)
  add_custom_target(fuzzers)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# The standard headers that most files include, parsed once for all rooms (room) and once for all tests with GoogleTest (test).
# One preset builds without (gcc), so that a file that forgets an include is found; there tests share GoogleTest's header,
# which each includes itself (tests/tidy/includes.py).
option(BATON_PRECOMPILE "Parse common headers once" ON)
set(BATON_COMMON_HEADERS <algorithm> <array> <atomic> <cstdint> <memory> <optional> <span> <string> <string_view> <utility> <vector>)

# baton_precompile(target room|test): the target shares the headers of its kind. Who shares them must have the same flags.
function(baton_precompile target kind)
  if(NOT BATON_PRECOMPILE AND NOT kind STREQUAL "test")
    return()
  endif()
  set(owner baton_precompiled_${kind})
  if(NOT TARGET ${owner})
    set(headers ${BATON_COMMON_HEADERS})
    set(source ${PROJECT_BINARY_DIR}/precompiled/${kind}.cpp)
    if(kind STREQUAL "room")
      file(CONFIGURE OUTPUT ${source} CONTENT "")
      add_library(${owner} OBJECT EXCLUDE_FROM_ALL ${source})
      target_compile_options(${owner} PRIVATE -fno-exceptions)
    else()
      file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
      add_executable(${owner} EXCLUDE_FROM_ALL ${source})  # An executable, because tests are: the flags say so.
      target_link_libraries(${owner} PRIVATE GTest::gtest GTest::gmock)
      if(BATON_PRECOMPILE)
        list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
      else()
        set(headers <gtest/gtest.h>)
      endif()
    endif()
    target_link_libraries(${owner} PRIVATE baton_options)
    list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(CMAKE_PCH_WARN_INVALID OFF)  # g++ leaves them out where a target has macros more, as those have that use MLIR.
endif()

# What all our code is compiled with; code of users who consume Baton is not.
add_library(baton_options INTERFACE)
target_include_directories(baton_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
if(BATON_DEVELOPER)
  target_compile_options(baton_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 says the first of an empty std::optional<Ref> whose destructor it has inlined, and the others of a string that
    # grows by a literal; whether it does depends on how much it inlines. AddressSanitizer and clang look for the real ones.
    target_compile_options(baton_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds
      -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endif()

# baton_library(room SOURCES a.cpp ... LINKS baton::base ...): the static library of one room, alias baton::room.
# Rooms do without exceptions (STYLE.md 2.8). OWN_HEADERS: the room precompiles headers of its own.
function(baton_library name)
  cmake_parse_arguments(ARG "OWN_HEADERS" "" "SOURCES;HEADERS;LINKS" ${ARGN})
  add_library(baton_${name} STATIC ${ARG_SOURCES})
  add_library(baton::${name} ALIAS baton_${name})
  target_compile_features(baton_${name} PUBLIC cxx_std_20)  # For whoever includes its headers.
  target_compile_options(baton_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  target_include_directories(baton_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/baton>)
  target_link_libraries(baton_${name} PUBLIC ${ARG_LINKS} PRIVATE $<BUILD_INTERFACE:baton_options>)
  set_target_properties(baton_${name} PROPERTIES EXPORT_NAME ${name})
  if(NOT ARG_OWN_HEADERS)
    baton_precompile(baton_${name} room)
  endif()
endfunction()

# baton_tool(baton-as LINKS ...): one program from the file of its name.
function(baton_tool name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  add_executable(${name} ${name}.cpp)
  add_executable(Baton::${name} ALIAS ${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} baton_options)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# baton_test(x_test LINKS ...): one GoogleTest program from x_test.cpp, registered with ctest.
function(baton_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${name}.cpp ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} baton_options GTest::gtest GTest::gmock GTest::gtest_main)
  baton_precompile(${name} test)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()

# baton_fuzzer(verifier LINKS ...): libFuzzer target verifier_fuzz from verifier_fuzz.cpp, built where there are fuzzers. As a
# test it starts from corpus/verifier and tries new inputs for BATON_FUZZ_SECONDS, by that many SHARES; what it finds goes to
# the build tree.
set(BATON_FUZZ_SECONDS 30 CACHE STRING "How long each fuzzer runs as a test")
function(baton_fuzzer name)
  cmake_parse_arguments(ARG "" "SHARES" "SOURCES;LINKS" ${ARGN})
  if(NOT BATON_FUZZERS)
    return()
  endif()
  set(seconds ${BATON_FUZZ_SECONDS})
  if(ARG_SHARES)
    math(EXPR seconds "${seconds} / ${ARG_SHARES}")
  endif()
  set(found ${CMAKE_CURRENT_BINARY_DIR}/found/${name})
  file(MAKE_DIRECTORY ${found})
  add_executable(${name}_fuzz ${name}_fuzz.cpp ${ARG_SOURCES})
  add_dependencies(fuzzers ${name}_fuzz)
  target_link_libraries(${name}_fuzz PRIVATE ${ARG_LINKS} baton_options -fsanitize=fuzzer)
  add_test(NAME ${name}_fuzz COMMAND ${name}_fuzz -max_total_time=${seconds} -timeout=10 -rss_limit_mb=2048
    -print_final_stats=1 -artifact_prefix=${found}/ ${found} ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  math(EXPR timeout "${BATON_FUZZ_SECONDS} + 120")
  set_tests_properties(${name}_fuzz PROPERTIES LABELS fuzz TIMEOUT ${timeout})
endfunction()
