# What `cmake --install` puts where, and what find_package(Baton COMPONENTS runtime device module_sdk) and pkg-config give:
#   Baton::runtime     everything that a host app links: load, verify, link and run modules
#   Baton::device      the same with devices: the HAL, its drivers, and the modules hal, check and parameters
#   Baton::module_sdk  headers only: what the author of a plugin needs
# tests/install builds a project against the result.
include(CMakePackageConfigHelpers)

# All are made in modules/CMakeLists.txt; this is the name that consumers use, also inside the build tree.
add_library(Baton::runtime ALIAS baton_runtime)
add_library(Baton::device ALIAS baton_device)
add_library(Baton::module_sdk ALIAS baton_module_sdk)

# A driver that is left out is in no package.
set(drivers baton_hal_local baton_hal_null)
if(TARGET baton_hal_cuda)
  list(APPEND drivers baton_hal_cuda)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Baton)
install(TARGETS baton_base baton_bytecode baton_vm baton_modules baton_runtime baton_module_sdk
  baton_hal baton_hal_drivers ${drivers}
  baton_hal_module baton_check_module baton_parameters_module baton_device EXPORT BatonTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT BatonTargets NAMESPACE Baton:: DESTINATION ${package_dir})

# The tree of headers is the tree of the house: path = include = namespace.
foreach(room base bytecode vm hal modules)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/baton
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.inc")
endforeach()

configure_package_config_file(tools/cmake/BatonConfig.cmake.in ${PROJECT_BINARY_DIR}/BatonConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/BatonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/BatonConfig.cmake ${PROJECT_BINARY_DIR}/BatonConfigVersion.cmake
  DESTINATION ${package_dir})

configure_file(tools/cmake/baton.pc.in ${PROJECT_BINARY_DIR}/baton.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/baton.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
