# What `cpack -G DEB` in a build folder makes of the components of install.cmake: three packages for Debian.
#
#   baton           the programs, their manuals, the plugins over libraries of others
#   baton-compiler  baton-compile, and the compiler as a library
#   baton-dev       headers, archives and what find_package and pkg-config read
set(CPACK_PACKAGE_NAME baton)
set(CPACK_PACKAGE_VENDOR "The Baton project")
set(CPACK_PACKAGE_CONTACT "The Baton project <baton@users.noreply.example>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)

# baton_package(<group> <package> <description> DEPENDS packages COMPONENTS components)
macro(baton_package group package description)
  cmake_parse_arguments(ARG "" "" "DEPENDS;COMPONENTS" ${ARGN})
  string(TOUPPER ${group} upper)
  list(JOIN ARG_DEPENDS ", " depends)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
  foreach(component IN LISTS ARG_COMPONENTS)
    string(TOUPPER ${component} component)
    set(CPACK_COMPONENT_${component}_GROUP ${group})
  endforeach()
endmacro()
set(same_version "(= ${PROJECT_VERSION})")
baton_package(programs baton "runs programs that mix generated and hand-written device code" COMPONENTS tools libraries)
baton_package(compile baton-compiler "compiles MLIR into programs for Baton" COMPONENTS compiler
  DEPENDS "baton-dev ${same_version}")
baton_package(develop baton-dev "headers and libraries of Baton" COMPONENTS module_sdk runtime device tool_support
  DEPENDS "zlib1g-dev")
set(CPACK_COMPONENTS_ALL module_sdk runtime device tool_support tools)
if(TARGET baton-compile)
  list(APPEND CPACK_COMPONENTS_ALL compiler libraries)
endif()
include(CPack)
