# Native modules that are linked into the tools, so that programs find them without --module=.
#
#   baton_static_module(custom TARGET my-module QUERY query_my_module)
#     says that the library my-module holds the module "custom", and BATON_MODULE_QUERY gave it that query function.
#   cmake -DBATON_STATIC_MODULES=<folder>;<folder>
#     adds folders whose CMakeLists.txt call it, and links what they name into baton-run-module.
#   baton_run_module_tool(my-run-module MODULES custom)
#     makes a baton-run-module of another name with modules of its own. Projects that find the installed package have
#     these two functions with its component `tool_support`.
set(BATON_STATIC_MODULES "" CACHE STRING "Folders with native modules to link into the tools")

function(baton_static_module name)
  cmake_parse_arguments(ARG "" "TARGET;QUERY" "" ${ARGN})
  if(NOT ARG_TARGET OR NOT ARG_QUERY)
    message(FATAL_ERROR "baton_static_module(${name}) names no TARGET or no QUERY")
  endif()
  set_property(GLOBAL PROPERTY baton_static_module_${name} ${ARG_TARGET} ${ARG_QUERY})
  set_property(GLOBAL APPEND PROPERTY baton_static_modules ${name})
endfunction()

# tool's add_static_modules() (tools/support/static_modules.hpp) and what it refers to.
function(baton_link_static_modules tool)
  set(declarations "")
  set(additions "")
  foreach(name ${ARGN})
    get_property(module GLOBAL PROPERTY baton_static_module_${name})
    if(NOT module)
      message(FATAL_ERROR "${tool} links a module '${name}' that no baton_static_module() names")
    endif()
    list(GET module 0 library)
    list(GET module 1 query)
    string(APPEND declarations "extern \"C\" baton_status* ${query}(const baton_host* host, uint64_t parameter_count,\n"
      "  const baton_parameter* parameters, const baton_module_descriptor** out_descriptor);\n")
    string(APPEND additions "  BATON_TRY(registry.add(\"${name}\", ${query}));\n")
    target_link_libraries(${tool} PRIVATE ${library})
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${tool}_static_modules.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// Made by static_modules.cmake.
#include \"tools/support/static_modules.hpp\"

@declarations@
namespace baton::tools {

Status add_static_modules([[maybe_unused]] modules::ModuleRegistry& registry) {
@additions@  return {};
}

}  // namespace baton::tools
")
  target_sources(${tool} PRIVATE ${source})
endfunction()

function(baton_run_module_tool tool)
  cmake_parse_arguments(ARG "" "" "MODULES" ${ARGN})
  find_file(BATON_RUN_MODULE_SOURCE baton-run-module.cpp REQUIRED NO_DEFAULT_PATH
    PATHS ${CMAKE_CURRENT_FUNCTION_LIST_DIR} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..)  # Installed, in our tree.
  add_executable(${tool} ${BATON_RUN_MODULE_SOURCE})
  target_link_libraries(${tool} PRIVATE Baton::tool_support $<TARGET_NAME_IF_EXISTS:baton_options>)
  baton_link_static_modules(${tool} ${ARG_MODULES})
endfunction()
