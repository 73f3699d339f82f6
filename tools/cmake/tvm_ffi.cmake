# Where TVM-FFI's wheel lies, for tests, samples and benches; the product needs none of it to build. Without it they are
# left out.
#   BATON_TVM_FFI  the folder that pip put it in: .../site-packages/tvm_ffi
file(GLOB wheels ${PROJECT_SOURCE_DIR}/build/python/lib/python3*/site-packages/tvm_ffi
  $ENV{VIRTUAL_ENV}/lib/python3*/site-packages/tvm_ffi)
find_path(BATON_TVM_FFI include/tvm/ffi/c_api.h HINTS ${wheels} NO_DEFAULT_PATH)
if(BATON_TVM_FFI)
  set(BATON_TVM_FFI_LIBRARY ${BATON_TVM_FFI}/lib/libtvm_ffi.so)
  find_program(BATON_TVM_FFI_PYTHON python3 HINTS ${BATON_TVM_FFI}/../../../../bin NO_DEFAULT_PATH)
  add_library(tvm_ffi_wheel INTERFACE)
  target_include_directories(tvm_ffi_wheel SYSTEM INTERFACE ${BATON_TVM_FFI}/include)
  target_link_libraries(tvm_ffi_wheel INTERFACE ${BATON_TVM_FFI_LIBRARY})
else()
  message(STATUS "Tests and samples of TVM-FFI are left out: pip install apache-tvm-ffi brings it (./dev setup does)")
endif()

# baton_tvm_ffi_library(name a.cpp ...): a library of functions as users of TVM-FFI build it.
function(baton_tvm_ffi_library name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE tvm_ffi_wheel)
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_compile_options(${name} PRIVATE -fvisibility=hidden)
  set_target_properties(${name} PROPERTIES PREFIX "")
endfunction()
