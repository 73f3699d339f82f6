# MLIR, LLVM and LLD 19 as Debian packages them: two shared libraries, libMLIR and libLLVM, and static ones of LLD.
# Defines baton_mlir (what code that includes MLIR is compiled with), baton_dialect and BATON_MLIR_FOUND.

find_package(MLIR 19.1 CONFIG QUIET HINTS /usr/lib/llvm-19/lib/cmake/mlir)
find_package(LLD CONFIG QUIET HINTS /usr/lib/llvm-19/lib/cmake/lld)
find_program(BATON_MLIR_TBLGEN NAMES mlir-tblgen-19 mlir-tblgen HINTS ${LLVM_TOOLS_BINARY_DIR})
set(BATON_MLIR_FOUND OFF)
if(NOT MLIR_FOUND OR NOT LLD_FOUND OR NOT BATON_MLIR_TBLGEN)
  return()
endif()
set(BATON_MLIR_FOUND ON)
set(BATON_MLIR_GENERATED ${PROJECT_BINARY_DIR}/generated)

# Never link static MLIR libraries beside the shared one: types would exist twice. NDEBUG must be as it was for the library,
# whose headers declare other things without it.
add_library(baton_mlir INTERFACE)
target_include_directories(baton_mlir SYSTEM INTERFACE
  "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS};${LLVM_INCLUDE_DIRS};${BATON_MLIR_GENERATED}>")
separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(baton_mlir INTERFACE "$<BUILD_INTERFACE:${definitions};-UNDEBUG;-DNDEBUG>")
target_link_libraries(baton_mlir INTERFACE MLIR LLVM)

# baton_dialect(util OPS TYPES ATTRIBUTES): runs mlir-tblgen on compiler-lite/dialects/util/util.td; target baton_dialect_util.
function(baton_dialect name)
  set(source ${PROJECT_SOURCE_DIR}/compiler-lite/dialects/${name}/${name}.td)
  set(folder ${BATON_MLIR_GENERATED}/compiler-lite/dialects/${name})
  file(MAKE_DIRECTORY ${folder})
  set(outputs)
  foreach(what dialect ${ARGN})
    set(selector --dialect=${name})
    if(what STREQUAL "dialect")
      set(stem dialect)
      set(generator dialect)
    elseif(what STREQUAL "OPS")
      set(stem ops)
      set(generator op)
    elseif(what STREQUAL "TYPES")
      set(stem types)
      set(generator typedef)
      set(selector --typedefs-dialect=${name})
    elseif(what STREQUAL "ATTRIBUTES")
      set(stem attributes)
      set(generator attrdef)
      set(selector --attrdefs-dialect=${name})
    endif()
    foreach(kind "hpp decls" "cpp defs")
      separate_arguments(kind NATIVE_COMMAND "${kind}")
      list(GET kind 0 extension)
      list(GET kind 1 suffix)
      set(output ${folder}/${name}.${stem}.${extension}.inc)
      add_custom_command(OUTPUT ${output}
        COMMAND ${BATON_MLIR_TBLGEN} -gen-${generator}-${suffix} ${selector} -I ${PROJECT_SOURCE_DIR}
                -I ${MLIR_INCLUDE_DIRS} ${source} -o ${output}
        DEPENDS ${source} ${PROJECT_SOURCE_DIR}/compiler-lite/dialects/base.td
        VERBATIM)
      list(APPEND outputs ${output})
    endforeach()
  endforeach()
  add_custom_target(baton_dialect_${name} DEPENDS ${outputs})
endfunction()
