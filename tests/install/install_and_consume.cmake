# Installs the build into empty prefixes, then configures, builds and runs projects against those alone, from copies that
# lie outside of the tree: the consumer, the samples that embed Baton, and the module template, which has the component
# `runtime` and nothing else. How many seconds that takes is the machine's matter (bench/tools/run.py has the limit of five); what a
# compiler must read of Baton for it is ours.
include(${CMAKE_CURRENT_LIST_DIR}/../support/run.cmake)

# expect(what text command...): the command prints exactly that.
function(expect what text)
  run("${what}" ${ARGN})
  if(NOT output STREQUAL "${text}")
    message(FATAL_ERROR "${what} printed '${output}' in place of '${text}'.")
  endif()
endfunction()

# build_project(name prefix): configures WORK_DIR/source/<name> against the prefix and builds it.
function(build_project name prefix)
  run("Configuring ${name}" ${CMAKE_COMMAND} -S ${WORK_DIR}/source/${name} -B ${WORK_DIR}/${name} -G Ninja
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DWITH_COMPILER=${WITH_COMPILER})
  run("Building ${name}" ${CMAKE_COMMAND} --build ${WORK_DIR}/${name})
endfunction()

# How many lines a compiler reads in `file`, with all that it includes; `lines` becomes that.
function(count_lines file)
  run("Preprocessing ${file}" ${CXX_COMPILER} -std=c++20 -E ${ARGN} ${file})
  string(REGEX MATCHALL "\n" lines "${output}")
  list(LENGTH lines lines)
  set(lines ${lines} PARENT_SCOPE)
endfunction()

# Nothing of Baton may be visible to who links the file, but for names that match `allowed`.
function(expect_hidden file allowed)
  run("Listing the symbols of ${file}" ${NM} -D --defined-only ${file})
  string(REGEX MATCHALL "[^\n]* [A-Za-z_0-9]*baton[A-Za-z_0-9]*" symbols "${output}")
  if(NOT allowed STREQUAL "")
    list(FILTER symbols EXCLUDE REGEX "${allowed}")
  endif()
  if(symbols)
    message(FATAL_ERROR "${file} shows symbols of Baton: ${symbols}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(COPY ${SOURCE_DIR}/consumer ${SOURCE_DIR}/consumer_c ${SOURCE_DIR}/newcomer ${SAMPLES_DIR}/embed-c ${SAMPLES_DIR}/embed-cpp ${SAMPLES_DIR}/module-template
  DESTINATION ${WORK_DIR}/source)

# ---- The runtime alone serves the author of a module.
set(runtime ${WORK_DIR}/runtime)
run("Installing the runtime" ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${runtime} --component runtime)
foreach(absent bin include/baton/hal/device.hpp include/baton/modules/hal_module)
  if(EXISTS ${runtime}/${absent})
    message(FATAL_ERROR "The component runtime brings ${absent}.")
  endif()
endforeach()
build_project(module-template ${runtime})
file(WRITE ${WORK_DIR}/standard.cpp "#include <charconv>\n#include <memory>\n#include <string>\n#include <string_view>\n#include <vector>\n")
count_lines(${WORK_DIR}/standard.cpp)
math(EXPR limit "${lines} * 5 / 4")
count_lines(${SAMPLES_DIR}/module-template/module.cpp -I${runtime}/include/baton)
message(STATUS "module-template: a compiler reads ${lines} lines, and may read ${limit}: the standard library's and a quarter more")
if(lines GREATER limit)
  message(FATAL_ERROR "A compiler reads ${lines} lines for module-template/module.cpp; it may read ${limit}.")
endif()
expect("The template" "counter.next = 5\ncounter.next = 10\ncounter.skip = 60\n"
  ${WORK_DIR}/module-template/try-counter ${WORK_DIR}/module-template/counter.so?step=5)
expect_hidden(${WORK_DIR}/module-template/counter.so " baton_module_query_v1$")
expect_hidden(${WORK_DIR}/module-template/try-counter "")

# ---- Everything serves apps with devices and compiled programs.
set(prefix ${WORK_DIR}/prefix)
run("Installing" ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
run("Assembling with the installed tool" ${prefix}/bin/baton-as ${SOURCE_DIR}/consumer/add.bvmasm -o ${WORK_DIR}/add.bvm)
run("Assembling with the installed tool" ${prefix}/bin/baton-as ${SOURCE_DIR}/consumer/fill.bvmasm -o ${WORK_DIR}/fill.bvm)
build_project(consumer ${prefix})
expect("The consumer" "2 + 3 = 5\n" ${WORK_DIR}/consumer/consumer ${WORK_DIR}/add.bvm)
expect("The consumer with a device" "filled with 1799\n" ${WORK_DIR}/consumer/device ${WORK_DIR}/fill.bvm)
expect("The consumer's own kernels" "tripled and negated: -3 -6 -9\n" ${WORK_DIR}/consumer/kernels)
run("The consumer's embedded kernels" ${WORK_DIR}/consumer/embedded)
if(NOT output MATCHES "has no entry point 'tripel'.*'triple'.*\n27 times: 27 54 81\n$")
  message(FATAL_ERROR "The consumer's embedded kernels printed '${output}'.")
endif()
run("Asking for the formats" ${WORK_DIR}/consumer/embedded formats)
if(NOT output MATCHES "^cuda-ptx-compute_80\nembedded-elf-x86_64\nembedded-elf-aarch64\n(vulkan-spirv-fb\n)?$")
  message(FATAL_ERROR "The consumer embeds these: '${output}'.")
endif()
# On Vulkan and on CUDA where the driver, a device and the compiler of shaders are there.
foreach(device vulkan cuda)
  execute_process(COMMAND ${WORK_DIR}/consumer/embedded ${device} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(output MATCHES "No Vulkan|No CUDA driver|no CUDA device|[Nn]o driver '${device}'|None of the 3 variants")
    message(STATUS "skipped: the consumer's kernel on ${device}: ${output}")
  elseif(NOT output MATCHES "has no entry point 'tripel'.*'triple'.*\n27 times: 27 54 81\n$")
    message(FATAL_ERROR "The consumer's embedded kernels on ${device} printed '${output}${errors}'.")
  endif()
endforeach()
if(NOT EXISTS ${WORK_DIR}/consumer/triple_x86_64.bc)
  message(FATAL_ERROR "baton_kernel_objects() made no triple_x86_64.bc.")
endif()
expect_hidden(${WORK_DIR}/consumer/embedded "")
expect("The tool with a module of the consumer's" "EXEC @main\nresult[0]: i32=42\n"
  ${WORK_DIR}/consumer/consumer-run-module ${WORK_DIR}/consumer/answer.bvm --function=main)
expect_hidden(${WORK_DIR}/consumer/device "")
run("Listing the functions of the library of TVM-FFI" ${NM} -D --defined-only ${WORK_DIR}/consumer/add.so)
if(NOT output MATCHES " T __tvm_ffi_add\n")
  message(FATAL_ERROR "The library of TVM-FFI has no function add: ${output}")
endif()
expect_hidden(${WORK_DIR}/consumer/add.so "")
if(WITH_COMPILER)
  expect("The consumer that compiles" "compiled and run: 12\n" ${WORK_DIR}/consumer/compiles)
endif()

build_project(embed-c ${prefix})
expect("embed-c" "sum(10) = 45\n" ${WORK_DIR}/embed-c/embed-c ${WORK_DIR}/embed-c/sum.bvm sum 10)
build_project(embed-cpp ${prefix})
expect("embed-cpp" "average of 4 sensors: 21.5\n" ${WORK_DIR}/embed-cpp/embed-cpp ${WORK_DIR}/embed-cpp/average.bvm 4)
if(WITH_COMPILER)
  foreach(device local-sync local-task)
    expect("embed-c with a device" "channel 2: 100 200 300 400\n"
      ${WORK_DIR}/embed-c/embed-c-device ${WORK_DIR}/embed-c/scale.bvm 2 --device=${device})
    set(calibrated "calibrated on ${device}: 2 3.5 4 6\n")
    expect("embed-cpp with a device"
      "calibrated on ${device}: 0 1.5 2 4\n${calibrated}${calibrated}sensors asked: 2 times by the first app, 1 by the second\n"
      ${WORK_DIR}/embed-cpp/embed-cpp-device ${WORK_DIR}/embed-cpp/calibrate.bvm --device=${device})
  endforeach()
endif()

# ---- A project that knows no C++.
build_project(consumer_c ${prefix})
expect("The consumer in C" "2 + 3 = 5\n" ${WORK_DIR}/consumer_c/add ${WORK_DIR}/add.bvm)
if(WITH_COMPILER)
  expect("The consumer in C with a device" "channel 1: 10 20 30 40\n"
    ${WORK_DIR}/consumer_c/scale ${WORK_DIR}/embed-c/scale.bvm 1)
endif()

# ---- What a newcomer writes first: a command with a kernel, a program that calls it, apps with threads and in C.
if(WITH_COMPILER)
  build_project(newcomer ${prefix})
  set(folder ${WORK_DIR}/newcomer)
  expect("The newcomer's threads" "four threads, 400 calls\n" ${folder}/threads ${folder}/smooth.bvm ${folder}/filters.so)
  expect("The newcomer's C" "softened: 0.333333 2.66667 6 2.66667 0.333333\n"
    ${folder}/plain ${folder}/smooth.bvm ${folder}/filters.so)
endif()

# ---- pkg-config says the same, where the files lie now and not where they were installed first.
file(RENAME ${prefix} ${WORK_DIR}/moved)
set(prefix ${WORK_DIR}/moved)
file(GLOB_RECURSE packages ${prefix}/*/baton.pc)
get_filename_component(packages ${packages} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${packages})
run("Asking pkg-config" pkg-config --cflags --libs baton)
separate_arguments(flags UNIX_COMMAND "${output}")
run("Compiling C with pkg-config's flags"
  ${C_COMPILER} -std=c11 ${SOURCE_DIR}/consumer/add.c -o ${WORK_DIR}/add_c ${flags})
expect("The C consumer" "2 + 3 = 5\n" ${WORK_DIR}/add_c ${WORK_DIR}/add.bvm)
run("Asking pkg-config" pkg-config --cflags --libs baton-device)
separate_arguments(flags UNIX_COMMAND "${output}")
run("Compiling C++ with pkg-config's flags"
  ${CXX_COMPILER} -std=c++20 ${SOURCE_DIR}/consumer/device.cpp -o ${WORK_DIR}/device_cpp ${flags})
expect("The C++ consumer" "filled with 1799\n" ${WORK_DIR}/device_cpp ${WORK_DIR}/fill.bvm)

# ---- One place for the numbers.
run("Asking for the version" pkg-config --modversion baton)
string(STRIP "${output}" packaged)
run("Asking for the version" ${prefix}/bin/baton-as --version)
if(NOT output MATCHES "^baton-as ${packaged}( \\([0-9a-f]+\\))?\n$")
  message(FATAL_ERROR "pkg-config says version ${packaged}, and the tools '${output}'.")
endif()
