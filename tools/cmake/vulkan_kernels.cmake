# baton_vulkan_kernels(<target> <source.comp> [NAME stem] [DEFINES A B=1] [ENTRY_POINTS add scale]): compiles a compute shader
# to SPIR-V for Vulkan 1.2 and puts it into <stem>_spv.hpp, which <target> may include: the array <stem>_spv, for
# Device::make_executable with the format "spirv". Needs glslc, and no Vulkan.
#
# GLSL knows one entry point a file. With ENTRY_POINTS the source is compiled once for each, with -DKERNEL_<entry point>, and
# they are linked into one module; that needs glslangValidator, spirv-opt and spirv-link. spirv-opt also takes out the constant
# gl_WorkGroupSize, which in SPIR-V counts for all entry points of a module. What a source includes is known to the build.
include(${CMAKE_CURRENT_LIST_DIR}/check_arguments.cmake)
# vulkan.cmake has looked for them too, where Baton itself is built.
find_program(BATON_GLSLC glslc HINTS $ENV{VULKAN_SDK}/bin)
find_program(BATON_GLSLANG glslangValidator HINTS $ENV{VULKAN_SDK}/bin)
find_program(BATON_SPIRV_OPT spirv-opt HINTS $ENV{VULKAN_SDK}/bin)
find_program(BATON_SPIRV_LINK spirv-link HINTS $ENV{VULKAN_SDK}/bin)

function(baton_vulkan_kernels target source)
  cmake_parse_arguments(ARG "" "NAME" "DEFINES;ENTRY_POINTS" ${ARGN})
  get_filename_component(source ${source} ABSOLUTE)
  baton_check_target("baton_vulkan_kernels(${target})" ${target})
  baton_check_files("baton_vulkan_kernels(${target})" ${source})
  if(ARG_ENTRY_POINTS AND NOT (BATON_GLSLANG AND BATON_SPIRV_OPT AND BATON_SPIRV_LINK))
    message(FATAL_ERROR "baton_vulkan_kernels(${target}): ENTRY_POINTS needs glslangValidator, spirv-opt and spirv-link, one of which is not here")
  elseif(NOT ARG_ENTRY_POINTS AND NOT BATON_GLSLC)
    message(FATAL_ERROR "baton_vulkan_kernels(${target}): shaders are compiled by glslc, which is not here")
  endif()
  if(NOT ARG_NAME)
    get_filename_component(ARG_NAME ${source} NAME_WE)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels)
  set(spirv ${folder}/${ARG_NAME}_spv.spv)
  set(header ${folder}/${ARG_NAME}_spv.hpp)
  list(TRANSFORM ARG_DEFINES PREPEND -D)
  set(modules "")
  set(compile "")
  set(depfile DEPFILE ${spirv}.d)
  if(ARG_ENTRY_POINTS)
    foreach(entry ${ARG_ENTRY_POINTS})
      set(module ${folder}/${ARG_NAME}_${entry}.spv)
      list(APPEND modules ${module})
      add_custom_command(
        OUTPUT ${module}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
        COMMAND ${BATON_GLSLANG} --quiet --target-env vulkan1.2 -DKERNEL_${entry} ${ARG_DEFINES} -e ${entry}
          --source-entrypoint main --depfile ${module}.d -o ${module} ${source}
        COMMAND ${BATON_SPIRV_OPT} --target-env=vulkan1.2 -O --eliminate-dead-const ${module} -o ${module}
        DEPENDS ${source}
        DEPFILE ${module}.d
        VERBATIM)
    endforeach()
    set(compile COMMAND ${BATON_SPIRV_LINK} --target-env vulkan1.2 ${modules} -o ${spirv})
    set(depfile "")
  else()
    set(compile COMMAND ${BATON_GLSLC} -O --target-env=vulkan1.2 ${ARG_DEFINES} -MD -MF ${spirv}.d -MT ${spirv} ${source} -o ${spirv})
  endif()
  add_custom_command(
    OUTPUT ${spirv} ${header}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    ${compile}
    COMMAND ${CMAKE_COMMAND} -DFILES=${spirv} -DHEADER=${header} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_files.cmake
    DEPENDS ${source} ${modules} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_files.cmake
    ${depfile}
    VERBATIM)
  target_sources(${target} PRIVATE ${header})
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
