# Whether the CUDA driver is built: BATON_CUDA wishes for it, the toolkit's headers (12.4 or newer) decide. Without them
# everything else builds, and the tests of the driver say that they were left out.
#   BATON_CUDA_INCLUDE  the folder of cuda.h
#   BATON_NVCC          the compiler, for kernels of tests and benches; they are left out where it is missing
option(BATON_CUDA "The CUDA driver, where the toolkit's headers are found" ON)
set(BATON_WITHOUT_CUDA "Baton was configured with BATON_CUDA=OFF.")
if(NOT BATON_CUDA)
  return()
endif()

find_program(BATON_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
if(BATON_NVCC)
  file(REAL_PATH ${BATON_NVCC} nvcc_file)
  cmake_path(GET nvcc_file PARENT_PATH toolkit)
  cmake_path(GET toolkit PARENT_PATH toolkit)
endif()
# Where there is no toolkit, pip's wheel of headers will do: nvidia-cuda-runtime-cu12, 4 MB.
file(GLOB wheel_includes ${PROJECT_SOURCE_DIR}/build/python/lib/python3*/site-packages/nvidia/cu*/include
  $ENV{VIRTUAL_ENV}/lib/python3*/site-packages/nvidia/cu*/include)
find_path(BATON_CUDA_INCLUDE cuda.h HINTS ${toolkit}/include ${toolkit}/targets/x86_64-linux/include $ENV{CUDA_HOME}/include
  /usr/local/cuda/include ${wheel_includes})
set(cuda_version 0)
if(BATON_CUDA_INCLUDE)
  file(STRINGS ${BATON_CUDA_INCLUDE}/cuda.h version_line REGEX "^#define CUDA_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" cuda_version "${version_line}")
endif()
if(cuda_version LESS 12040)
  message(STATUS "The CUDA driver is left out, with its tests: there are no CUDA headers of version 12.4 or newer (found: "
    "${cuda_version}). The CUDA toolkit has them, and ./dev setup brings those of pip's nvidia-cuda-runtime-cu12; then configure "
    "again with -UBATON_CUDA_INCLUDE")
  set(BATON_WITHOUT_CUDA "CUDA headers of version 12.4 or newer were not there when Baton was built.")
  set(BATON_CUDA OFF)
endif()
