# What `cmake --install` puts where, in components, and what find_package(Baton COMPONENTS ...) and pkg-config give:
#
#   component   target               for
#   module_sdk  Baton::module_sdk    the author of a plugin: headers only, and baton_cpu_kernels()
#   runtime     Baton::runtime       a host app: load, verify, link and run modules; holds module_sdk too
#   device      Baton::device        the same with devices: the HAL, its drivers, the modules hal, check and parameters;
#                                    baton_tvm_ffi_program()
#   compiler    Baton::compiler      the compiler as a library, and baton-compile; needs MLIR 19 where it is used
#   tools       Baton::baton-as ...  the programs, and baton_program()
#   libraries                        plugins over libraries of others, and what baton-compile --library reads
#   tool_support                     baton_run_module_tool(): a baton-run-module with modules of one's own
#
# `cmake --install build/release` installs all, `--component runtime` one. device and compiler stand on runtime,
# tool_support on device; the others on nothing. tests/install builds projects against the result.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Baton)
set(header_dir ${CMAKE_INSTALL_INCLUDEDIR}/baton)
set(headers FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.inc")

# baton_install_targets(<component> <export> targets...): libraries, programs, and a file that imports them.
function(baton_install_targets component export)
  install(TARGETS ${ARGN} EXPORT Baton${export}Targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${component})
  install(EXPORT Baton${export}Targets NAMESPACE Baton:: DESTINATION ${package_dir} COMPONENT ${component})
endfunction()

# The prefix as a package's own file finds it, wherever the tree was moved to; a libdir elsewhere keeps the one of the build.
set(prefix "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(prefix "\${pcfiledir}/${up}")
endif()

# baton_install_pkg_config(<name> <description> REQUIRES packages LIBS flags)
function(baton_install_pkg_config component name description)
  cmake_parse_arguments(ARG "" "" "REQUIRES;LIBS" ${ARGN})
  list(JOIN ARG_REQUIRES " " requires)
  list(JOIN ARG_LIBS " " libs)
  configure_file(${PROJECT_SOURCE_DIR}/tools/cmake/baton.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()

# The tree of headers is the tree of the house: path = include = namespace.
file(STRINGS ${PROJECT_SOURCE_DIR}/modules/sdk/version.h abi_line REGEX "define BATON_ABI_VERSION ")
string(REGEX MATCH "[0-9]+" BATON_ABI_VERSION "${abi_line}")
configure_package_config_file(${PROJECT_SOURCE_DIR}/tools/cmake/BatonConfig.cmake.in
  ${PROJECT_BINARY_DIR}/BatonConfig.cmake INSTALL_DESTINATION ${package_dir} PATH_VARS header_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/BatonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
foreach(component module_sdk runtime)  # Either is of use alone.
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/modules/sdk DESTINATION ${header_dir}/modules COMPONENT ${component} ${headers})
  install(FILES ${PROJECT_SOURCE_DIR}/hal/drivers/local/executable_library.h  # What kernels include.
    ${PROJECT_SOURCE_DIR}/hal/drivers/local/cpu_kernel.h
    ${PROJECT_SOURCE_DIR}/hal/drivers/local/executable_plugin.h
    DESTINATION ${header_dir}/hal/drivers/local COMPONENT ${component})
  install(FILES ${PROJECT_BINARY_DIR}/BatonConfig.cmake ${PROJECT_BINARY_DIR}/BatonConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/tools/cmake/cpu_kernels.cmake ${PROJECT_SOURCE_DIR}/tools/cmake/cuda_kernels.cmake
    ${PROJECT_SOURCE_DIR}/tools/cmake/bare_calls.cmake
    ${PROJECT_SOURCE_DIR}/tools/cmake/vulkan_kernels.cmake ${PROJECT_SOURCE_DIR}/tools/cmake/embed_files.cmake
    ${PROJECT_SOURCE_DIR}/tools/cmake/kernel_objects.cmake
    ${PROJECT_SOURCE_DIR}/tools/cmake/embed_kernels.cmake ${PROJECT_SOURCE_DIR}/tools/cmake/name_entry_point.cmake
    ${PROJECT_SOURCE_DIR}/tools/cmake/check_arguments.cmake ${PROJECT_SOURCE_DIR}/tools/cmake/cuda_names.h
    DESTINATION ${package_dir} COMPONENT ${component})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/compiler-lite/codegen/llvm/builtins DESTINATION ${package_dir} COMPONENT ${component}
    FILES_MATCHING PATTERN "*.c" PATTERN "include/*")
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT ${component})
endforeach()
baton_install_pkg_config(module_sdk baton-module-sdk "what the author of a native module includes")

# ---- runtime
baton_install_targets(runtime Runtime baton_base baton_bytecode baton_vm baton_modules baton_runtime)
foreach(room base bytecode vm modules)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${header_dir} COMPONENT runtime ${headers}
    PATTERN sdk EXCLUDE PATTERN app EXCLUDE PATTERN "*_module" EXCLUDE PATTERN device_door.hpp EXCLUDE)
endforeach()
baton_install_pkg_config(runtime baton "runs modules"
  LIBS -lbaton_modules -lbaton_vm -lbaton_bytecode -lbaton_base -lstdc++ -lm -ldl -lpthread)

# ---- device. A driver that is left out is in no package.
set(drivers baton_hal_local baton_hal_null)
if(TARGET baton_hal_cuda)
  list(APPEND drivers baton_hal_cuda)
endif()
if(TARGET baton_hal_vulkan)
  list(APPEND drivers baton_hal_vulkan)
endif()
baton_install_targets(device Device baton_hal baton_hal_drivers ${drivers}
  baton_hal_module baton_kernel_library baton_tvm_ffi baton_check_module baton_collective_module baton_parameters_module baton_device)
foreach(room hal modules/app modules/hal_module modules/kernel_library modules/tvm_ffi modules/check_module modules/collective_module modules/parameters_module)
  get_filename_component(parent ${room} DIRECTORY)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${header_dir}/${parent} COMPONENT device ${headers})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/tools/cmake/tvm_ffi_program.cmake ${PROJECT_SOURCE_DIR}/tools/cmake/tvm_ffi_functions.cmake
  DESTINATION ${package_dir} COMPONENT device)
install(FILES ${PROJECT_SOURCE_DIR}/modules/device_door.hpp DESTINATION ${header_dir}/modules COMPONENT device)
# Building blocks of drivers stood in hal/ up to version 0.1.0; those who include them there are led on.
foreach(moved command_list command_text freed_blocks hazards host_allocator host_queue host_semaphore resolve spin wait_helper)
  file(WRITE ${PROJECT_BINARY_DIR}/moved/hal/${moved}.hpp
    "#pragma once\n#include \"hal/drivers/common/${moved}.hpp\"  // IWYU pragma: export\n")
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/moved/hal DESTINATION ${header_dir} COMPONENT device)
list(TRANSFORM drivers PREPEND -l OUTPUT_VARIABLE driver_libs)
baton_install_pkg_config(device baton-device "runs modules on devices" REQUIRES baton
  LIBS -lbaton_device -lbaton_kernel_library -lbaton_tvm_ffi -lbaton_hal_module -lbaton_check_module -lbaton_collective_module -lbaton_parameters_module -lbaton_hal_drivers ${driver_libs}
       -lbaton_hal)

# ---- compiler. Programs and libraries are imported apart: who only runs baton-compile needs no MLIR to configure.
if(TARGET baton_compiler)
  baton_install_targets(compiler Compiler baton_mlir baton_dialects baton_codegen baton_placement baton_schedule baton_specs
    baton_compiler_lite baton_compiler)
  install(FILES ${PROJECT_SOURCE_DIR}/compiler-lite/compile.hpp ${PROJECT_SOURCE_DIR}/compiler-lite/device_linker.hpp
    DESTINATION ${header_dir}/compiler-lite COMPONENT compiler)
endif()
if(TARGET baton-compile)
  baton_install_targets(compiler CompilerTool baton-compile)
endif()

# ---- tools
if(TARGET baton-as)
  set(tools baton-as baton-devices baton-dump-module baton-fat-elf baton-import-triton baton-isa baton-replay baton-run-module)
  foreach(tool baton-check-module baton-benchmark-module baton-benchmark-executable)
    if(TARGET ${tool})
      list(APPEND tools ${tool})
    endif()
  endforeach()
  baton_install_targets(tools Tools ${tools})
  install(FILES ${PROJECT_SOURCE_DIR}/tools/cmake/programs.cmake ${PROJECT_SOURCE_DIR}/tools/cmake/check_arguments.cmake DESTINATION ${package_dir} COMPONENT tools)

  baton_install_targets(tool_support ToolSupport baton_tool_support)
  foreach(folder flags replay run support)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/${folder} DESTINATION ${header_dir}/tools COMPONENT tool_support ${headers})
  endforeach()
  install(FILES ${PROJECT_SOURCE_DIR}/tools/cmake/static_modules.cmake ${PROJECT_SOURCE_DIR}/tools/baton-run-module.cpp
    DESTINATION ${package_dir} COMPONENT tool_support)
endif()
