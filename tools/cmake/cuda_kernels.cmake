# baton_cuda_kernels(<target> <source.cu>): compiles CUDA kernels to PTX, which every GPU since sm_75 takes, and puts it into
# <stem>_ptx.hpp, which <target> may include: the array <stem>_sm_75, for Device::make_executable with the format
# "cuda-ptx-compute_75". Needs no CUDA toolkit: a source uses clang's own names. What it includes is known to the build. BATON_BARE_CLANG is that of cpu_kernels.cmake.
include(${CMAKE_CURRENT_LIST_DIR}/check_arguments.cmake)

function(baton_cuda_kernels target source)
  if(ARGN)
    message(FATAL_ERROR "baton_cuda_kernels(${target}) takes one source and nothing else (${ARGN})")
  endif()
  baton_check_target("baton_cuda_kernels(${target})" ${target})
  if(NOT BATON_BARE_CLANG)
    message(FATAL_ERROR "baton_cuda_kernels(${target}): CUDA kernels are made by clang-19, which is not here")
  endif()
  get_filename_component(stem ${source} NAME_WE)
  get_filename_component(source ${source} ABSOLUTE)
  baton_check_files("baton_cuda_kernels(${target})" ${source})
  baton_check_name("baton_cuda_kernels(${target})" ${stem})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels)
  set(ptx ${folder}/${stem}_sm_75.ptx)
  set(header ${folder}/${stem}_ptx.hpp)
  baton_claim_file("baton_cuda_kernels(${target})" ${header} "rename one of the sources")
  add_custom_command(
    OUTPUT ${ptx} ${header}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${BATON_BARE_CLANG} -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 --cuda-path=/nonexistent -nocudainc -nocudalib
      -O2 -Wall -Werror -MD -MF ${ptx}.d -MT ${ptx} -S ${source} -o ${ptx}
    COMMAND ${CMAKE_COMMAND} -DFILES=${ptx} -DHEADER=${header} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_files.cmake
    DEPENDS ${source} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_files.cmake
    DEPFILE ${ptx}.d
    VERBATIM)
  target_sources(${target} PRIVATE ${header})
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
