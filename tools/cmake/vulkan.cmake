# Whether the Vulkan driver is built: BATON_VULKAN wishes for it, Vulkan's headers and glslc decide. Without them everything
# else builds, and the tests of the driver say that they were left out.
#   BATON_VULKAN_INCLUDE  the folder of vulkan/vulkan_core.h
#   BATON_GLSLC           the compiler of shaders
#   BATON_GLSLANG, BATON_SPIRV_OPT, BATON_SPIRV_LINK  for modules with several entry points; tests of some are left out without
option(BATON_VULKAN "The Vulkan driver, where Vulkan's headers and glslc are found" ON)
set(BATON_WITHOUT_VULKAN "Baton was configured with BATON_VULKAN=OFF.")
set(BATON_WATCHED_VULKAN vulkan)
if(NOT BATON_VULKAN)
  return()
endif()

find_path(BATON_VULKAN_INCLUDE vulkan/vulkan_core.h HINTS $ENV{VULKAN_SDK}/include)
find_program(BATON_GLSLC glslc HINTS $ENV{VULKAN_SDK}/bin)
find_program(BATON_GLSLANG glslangValidator HINTS $ENV{VULKAN_SDK}/bin)
find_program(BATON_SPIRV_OPT spirv-opt HINTS $ENV{VULKAN_SDK}/bin)
find_program(BATON_SPIRV_LINK spirv-link HINTS $ENV{VULKAN_SDK}/bin)
set(version_line "")
if(BATON_VULKAN_INCLUDE)
  file(STRINGS ${BATON_VULKAN_INCLUDE}/vulkan/vulkan_core.h version_line REGEX "^#define VK_API_VERSION_1_3 ")
endif()
if(NOT version_line OR NOT BATON_GLSLC)
  message(STATUS "The Vulkan driver is left out: Vulkan headers of version 1.3 or newer, or glslc, are not here")
  set(BATON_WITHOUT_VULKAN "Vulkan headers of version 1.3 or newer, or glslc, were not there when Baton was built.")
  set(BATON_VULKAN OFF)
endif()

# What tests open: with Khronos' validation layer, where what it says ends the process, if the layer is here. The sanitizers would watch it.
find_file(BATON_VULKAN_LAYER VkLayer_khronos_validation.json
  PATHS /usr/share/vulkan/explicit_layer.d /etc/vulkan/explicit_layer.d /usr/local/share/vulkan/explicit_layer.d NO_DEFAULT_PATH)
if(BATON_VULKAN_LAYER AND NOT BATON_SANITIZE)
  set(BATON_WATCHED_VULKAN "vulkan?vulkan_validation=fatal")
elseif(BATON_VULKAN)
  message(STATUS "Tests of Vulkan by tools are not watched: the validation layer is not here, or this build has a sanitizer")
endif()
