# baton_embed_kernels(<target> NAME <name> FILES <file>... [ARCHS native 80 90a ...] [FORMAT cubin|ptx|fatbin]
#                     [COMPILER nvcc|clang] [OPTIONS ...])
# puts kernels into <target>, which then has them with #include "<name>_kernels.h": BATON_EMBEDDED_KERNEL(<name>, "scale")
# of modules/sdk/kernel_library.h is one of them, in C and in C++.
#
#   FILES     that are there or that this project makes: *.cu for CUDA, all compiled as one; *.c and *.cpp for the CPU (hal/drivers/local/executable_library.h), all
#             linked as one; *.comp for Vulkan, compute shaders in GLSL, each a kernel with the name of its file. All together
#             are one library that runs on any of them. The include folders of <target> are theirs.
#   ARCHS     compute capabilities to compile for; `native` asks the GPU of this machine. PTX may leave it out: 75.
#   FORMAT    cubin: machine code for each of ARCHS; ptx: text for each, which any newer GPU takes too; fatbin: one file with
#             machine code for each and text for the last. cubin if left out. spirv: *.comp alone.
#   COMPILER  nvcc where it is found and knows all of ARCHS, else clang: without the toolkit's headers (cuda_names.h stands
#             for them), with ptxas for machine code.
#   OPTIONS   more for the compiler of *.cu, or with FORMAT spirv for that of *.comp.
#
# Shaders are compiled by glslc for Vulkan 1.2, named by spirv-as and linked by spirv-link of SPIRV-Tools.
#
# Blobs are aligned to 64 bytes. Their symbols have the target in their names: what two targets embed under the same name can
# be linked together. What a file includes is known to the build, with every generator.
include(${CMAKE_CURRENT_LIST_DIR}/check_arguments.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/bare_calls.cmake)
find_program(BATON_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
find_program(BATON_PTXAS ptxas HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
find_program(BATON_BARE_CLANG NAMES clang-19 clang)
find_program(BATON_BARE_LLD NAMES ld.lld-19 ld.lld)
find_program(BATON_NVIDIA_SMI nvidia-smi)
find_program(BATON_GLSLC glslc HINTS $ENV{VULKAN_SDK}/bin)
find_program(BATON_SPIRV_AS spirv-as HINTS $ENV{VULKAN_SDK}/bin)
find_program(BATON_SPIRV_LINK spirv-link HINTS $ENV{VULKAN_SDK}/bin)

# The GPUs of this machine, as 90.
function(baton_native_archs result)
  set(said "there is no nvidia-smi")
  if(BATON_NVIDIA_SMI)
    execute_process(COMMAND ${BATON_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE output ERROR_VARIABLE said RESULT_VARIABLE code)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]" archs "${output}")
    if(code EQUAL 0 AND archs)
      list(TRANSFORM archs REPLACE "\\." "")
      list(REMOVE_DUPLICATES archs)
      set(${result} ${archs} PARENT_SCOPE)
      return()
    endif()
    string(STRIP "${output}${said}" said)
  endif()
  message(FATAL_ERROR "ARCHS native asks the GPU of this machine, and there is none (${said}). Write the compute capabilities "
    "of those that the kernels are for: ARCHS 80 90.")
endfunction()

# Whether nvcc compiles for all of these.
function(baton_nvcc_knows result)
  set(${result} OFF PARENT_SCOPE)
  if(NOT BATON_NVCC)
    return()
  endif()
  execute_process(COMMAND ${BATON_NVCC} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  foreach(arch IN LISTS ARGN)
    string(REGEX MATCH "^[0-9]+" number "${arch}")
    if(NOT known MATCHES "compute_${number}[^0-9]")
      return()
    endif()
  endforeach()
  set(${result} ON PARENT_SCOPE)
endfunction()

# baton_kernel_blob(<file> DEPENDS ... COMMAND ...): a file that a command makes beside <file>.d; leaves its path in `blob`.
macro(baton_kernel_blob file)
  set(blob ${folder}/${file})
  add_custom_command(OUTPUT ${blob} ${ARGN} DEPFILE ${blob}.d VERBATIM COMMAND_EXPAND_LISTS)
endmacro()

# The commands that make CUDA's blobs; appends to `blobs` and `formats`.
macro(baton_embed_cuda)
  set(unit ${folder}/${ARG_NAME}.cu)
  list(TRANSFORM cuda_files REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
  list(JOIN includes "" includes)
  file(CONFIGURE OUTPUT ${unit} CONTENT "// Made by embed_kernels.cmake: the kernels of ${ARG_NAME} are compiled as one.\n${includes}" @ONLY)
  if(ARG_COMPILER STREQUAL "nvcc")
    set(compile ${BATON_NVCC} -O3 ${include_flags} ${ARG_OPTIONS})
  else()
    set(compile ${BATON_BARE_CLANG} -x cuda --cuda-device-only --cuda-path=/nonexistent -nocudainc -nocudalib -O3
      -include ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cuda_names.h ${include_flags} ${ARG_OPTIONS} -S)
  endif()
  set(inputs ${unit} ${cuda_files} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/cuda_names.h)
  if(ARG_FORMAT STREQUAL "fatbin")
    set(codes)
    foreach(arch IN LISTS ARG_ARCHS)
      list(APPEND codes -gencode arch=compute_${arch},code=sm_${arch})
    endforeach()
    list(GET ARG_ARCHS -1 last)
    list(APPEND codes -gencode arch=compute_${last},code=compute_${last})
    baton_kernel_blob(${ARG_NAME}.fatbin DEPENDS ${inputs}
      COMMAND ${compile} -fatbin ${codes} -MD -MF ${folder}/${ARG_NAME}.fatbin.d -o ${folder}/${ARG_NAME}.fatbin ${unit})
    list(APPEND blobs ${blob})
    list(APPEND formats cuda-fatbin)
  else()
    foreach(arch IN LISTS ARG_ARCHS)
      set(stem ${ARG_NAME}_sm_${arch})
      set(ptx ${folder}/${stem}.ptx)
      set(made ${folder}/${stem}.${ARG_FORMAT})
      if(ARG_COMPILER STREQUAL "nvcc")
        set(kind -cubin -arch=sm_${arch})
        if(ARG_FORMAT STREQUAL "ptx")
          set(kind -ptx -arch=compute_${arch})
        endif()
        baton_kernel_blob(${stem}.${ARG_FORMAT} DEPENDS ${inputs} COMMAND ${compile} ${kind} -MD -MF ${made}.d -o ${made} ${unit})
      else()
        set(assemble)
        if(ARG_FORMAT STREQUAL "cubin")
          set(assemble BYPRODUCTS ${ptx} COMMAND ${BATON_PTXAS} -arch sm_${arch} ${ptx} -o ${made})
        endif()
        baton_kernel_blob(${stem}.${ARG_FORMAT} DEPENDS ${inputs}
          COMMAND ${compile} --cuda-gpu-arch=sm_${arch} -MD -MF ${made}.d -MT ${made} -o ${ptx} ${unit} ${assemble})
      endif()
      list(APPEND blobs ${made})
      if(ARG_FORMAT STREQUAL "cubin")
        list(APPEND formats cuda-sm_${arch})
      else()
        list(APPEND formats cuda-ptx-compute_${arch})
      endif()
    endforeach()
  endif()
endmacro()

# The same for the CPU: one ELF file for each architecture.
macro(baton_embed_cpu)
  foreach(architecture x86_64 aarch64)
    set(objects)
    set(stems)
    baton_bare_includes()
    foreach(file IN LISTS cpu_files)
      baton_own_stem(stem ${file} stems)
      set(language -std=c17)
      if(NOT file MATCHES "\\.c$")
        set(language -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics)
      endif()
      set(object ${folder}/${ARG_NAME}_${stem}_${architecture}.o)
      baton_kernel_blob(${ARG_NAME}_${stem}_${architecture}.o DEPENDS ${file}
        COMMAND ${BATON_BARE_CLANG} -target ${architecture}-none-elf ${language} -O2 -fPIC -fvisibility=hidden -ffreestanding
          ${include_flags} ${bare_includes} -MD -MF ${object}.d -MT ${object} -c ${file} -o ${object})
      list(APPEND objects ${object})
    endforeach()
    set(elf ${folder}/${ARG_NAME}_${architecture}.elf)
    baton_bare_calls(${folder}/${ARG_NAME}_${architecture} ${architecture})
    add_custom_command(OUTPUT ${elf}
      COMMAND ${BATON_BARE_LLD} --build-id=none -nostdlib -shared --no-undefined --gc-sections -z now -z relro --discard-all
        --hash-style=sysv --strip-debug ${objects} ${bare_calls} -o ${elf}
      DEPENDS ${objects} ${bare_objects}
      VERBATIM)
    list(APPEND blobs ${elf})
    list(APPEND formats embedded-elf-${architecture})
  endforeach()
endmacro()

# And for Vulkan: one module with an entry point for each shader. GLSL calls it main; glslc's text is where it gets its name.
macro(baton_embed_spirv)
  set(spirv ${folder}/${ARG_NAME}.spv)
  set(shader_options)
  if(ARG_FORMAT STREQUAL "spirv")
    set(shader_options ${ARG_OPTIONS})
  endif()
  set(modules)
  foreach(file IN LISTS shader_files)
    get_filename_component(stem ${file} NAME_WE)
    set(assembly ${folder}/${ARG_NAME}_${stem}.spvasm)
    set(module ${folder}/${ARG_NAME}_${stem}.spv)
    baton_kernel_blob(${ARG_NAME}_${stem}.spv DEPENDS ${file} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/name_entry_point.cmake
      BYPRODUCTS ${assembly}
      COMMAND ${BATON_GLSLC} -O --target-env=vulkan1.2 ${include_flags} ${shader_options} -MD -MF ${module}.d -MT ${module} -S ${file}
        -o ${assembly}
      COMMAND ${CMAKE_COMMAND} -DASSEMBLY=${assembly} -DNAME=${stem} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/name_entry_point.cmake
      COMMAND ${BATON_SPIRV_AS} --target-env vulkan1.2 ${assembly} -o ${module})
    list(APPEND modules ${module})
  endforeach()
  if(shader_count EQUAL 1)
    set(spirv ${modules})
  else()
    add_custom_command(OUTPUT ${spirv} COMMAND ${BATON_SPIRV_LINK} --target-env vulkan1.2 ${modules} -o ${spirv}
      DEPENDS ${modules} VERBATIM)
  endif()
  list(APPEND blobs ${spirv})
  list(APPEND formats vulkan-spirv-fb)
endmacro()

function(baton_check_embedding target)
  baton_check_target("baton_embed_kernels(${target})" ${target})
  baton_check_name("baton_embed_kernels(${target})" "${ARG_NAME}")
  foreach(file IN LISTS files)
    if(NOT file MATCHES "\\.(cu|c|cpp|comp)$")
      message(FATAL_ERROR "baton_embed_kernels(${target}): '${file}' is neither *.cu nor *.c, *.cpp or *.comp")
    endif()
  endforeach()
  baton_check_files("baton_embed_kernels(${target})" ${files})
  foreach(arch IN LISTS ARG_ARCHS)
    if(NOT arch MATCHES "^[1-9][0-9]+[af]?$")
      message(FATAL_ERROR "baton_embed_kernels(${target}): ARCHS has '${arch}'; a compute capability is written as in ARCHS 80 90a")
    endif()
  endforeach()
  set(stems)
  foreach(file IN LISTS shader_files)
    get_filename_component(stem ${file} NAME_WE)
    if(stem IN_LIST stems)
      message(FATAL_ERROR "baton_embed_kernels(${target}): two shaders are called '${stem}.comp', and a kernel has the name of its file")
    endif()
    list(APPEND stems ${stem})
  endforeach()
  if(NOT files OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "baton_embed_kernels(${target}) takes NAME, FILES, ARCHS, FORMAT, COMPILER and OPTIONS (${ARG_UNPARSED_ARGUMENTS})")
  elseif(NOT ARG_FORMAT MATCHES "^(cubin|ptx|fatbin|spirv)$")
    message(FATAL_ERROR "baton_embed_kernels(${target}): FORMAT is '${ARG_FORMAT}', and there are cubin, ptx, fatbin and spirv")
  elseif(ARG_FORMAT STREQUAL "spirv" AND (cuda_files OR cpu_files))
    message(FATAL_ERROR "baton_embed_kernels(${target}): FORMAT spirv is for *.comp alone; FILES has others")
  elseif(shader_files AND NOT (BATON_GLSLC AND BATON_SPIRV_AS))
    message(FATAL_ERROR "baton_embed_kernels(${target}): shaders are compiled by glslc and named by spirv-as, which are not here")
  elseif(shader_count GREATER 1 AND NOT BATON_SPIRV_LINK)
    message(FATAL_ERROR "baton_embed_kernels(${target}): several shaders are linked by spirv-link, which is not here")
  elseif(cuda_files AND NOT ARG_ARCHS)
    message(FATAL_ERROR "baton_embed_kernels(${target}): FORMAT ${ARG_FORMAT} needs ARCHS, as in ARCHS 80 90")
  elseif(cuda_files AND NOT ARG_COMPILER MATCHES "^(nvcc|clang)$")
    message(FATAL_ERROR "baton_embed_kernels(${target}): COMPILER is '${ARG_COMPILER}', and there are nvcc and clang")
  elseif(cuda_files AND ARG_COMPILER STREQUAL "nvcc" AND NOT BATON_NVCC)
    message(FATAL_ERROR "baton_embed_kernels(${target}): there is no nvcc here; COMPILER clang needs none")
  elseif(cuda_files AND ARG_COMPILER STREQUAL "clang" AND ARG_FORMAT STREQUAL "fatbin")
    message(FATAL_ERROR "baton_embed_kernels(${target}): a fatbin is made by nvcc, which is not here or does not know all of ARCHS ${ARG_ARCHS}")
  elseif(cuda_files AND ARG_COMPILER STREQUAL "clang" AND ARG_FORMAT STREQUAL "cubin" AND NOT BATON_PTXAS)
    message(FATAL_ERROR "baton_embed_kernels(${target}): machine code is made by ptxas of the CUDA toolkit, which is not here; FORMAT ptx needs none")
  elseif((cpu_files OR (cuda_files AND ARG_COMPILER STREQUAL "clang")) AND NOT BATON_BARE_CLANG)
    message(FATAL_ERROR "baton_embed_kernels(${target}): kernels for the CPU, and CUDA's without nvcc, are compiled by clang-19, which is not here; -DBATON_BARE_CLANG=<path> names it")
  elseif(cpu_files AND NOT BATON_BARE_LLD)
    message(FATAL_ERROR "baton_embed_kernels(${target}): kernels for the CPU are linked by ld.lld, which is not here")
  endif()
endfunction()

function(baton_embed_kernels target)
  cmake_parse_arguments(ARG "" "NAME;FORMAT;COMPILER" "FILES;ARCHS;OPTIONS" ${ARGN})
  baton_read_kernel_files()
  set(shader_files ${files})
  list(FILTER shader_files INCLUDE REGEX "\\.comp$")
  list(LENGTH shader_files shader_count)
  if(NOT ARG_FORMAT)
    set(ARG_FORMAT cubin)
  endif()
  if("native" IN_LIST ARG_ARCHS)
    baton_native_archs(native)
    list(REMOVE_ITEM ARG_ARCHS native)
    list(APPEND ARG_ARCHS ${native})
  elseif(NOT ARG_ARCHS AND ARG_FORMAT STREQUAL "ptx")
    set(ARG_ARCHS 75)
  endif()
  list(REMOVE_DUPLICATES ARG_ARCHS)
  if(NOT ARG_COMPILER)
    baton_nvcc_knows(nvcc_knows ${ARG_ARCHS})
    set(ARG_COMPILER clang)
    if(nvcc_knows)
      set(ARG_COMPILER nvcc)
    endif()
  endif()
  baton_check_embedding(${target})

  string(MD5 hash "${CMAKE_CURRENT_BINARY_DIR}/${target}/${ARG_NAME}")
  string(SUBSTRING ${hash} 0 12 hash)
  string(MAKE_C_IDENTIFIER "baton_${target}_${ARG_NAME}_${hash}" symbol)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels)
  file(MAKE_DIRECTORY ${folder})
  baton_claim_file("baton_embed_kernels(${target})" ${folder}/${ARG_NAME}_kernels.h "take another NAME, or give all FILES at once")
  if(cpu_files)
    baton_claim_file("baton_embed_kernels(${target})" ${folder}/${ARG_NAME}_x86_64.elf "take another NAME")
  endif()
  # Not those of this machine's system: kernels are for others too.
  set(folders_of_target "$<FILTER:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,EXCLUDE,^/usr/(local/)?include$>")
  set(include_flags "-I$<JOIN:${folders_of_target},$<SEMICOLON>-I>")
  set(blobs)
  set(formats)
  if(cuda_files)
    baton_embed_cuda()
  endif()
  if(cpu_files)
    baton_embed_cpu()
  endif()
  if(shader_files)
    baton_embed_spirv()
  endif()
  baton_write_embedding(${target})
endfunction()

# The header that users include, and the source that holds the bytes. They change with the list of blobs alone.
function(baton_write_embedding target)
  set(guard BATON_EMBEDDED_${symbol}_H_)
  file(CONFIGURE OUTPUT ${folder}/${ARG_NAME}_kernels.h @ONLY CONTENT "/* Made by embed_kernels.cmake: the kernels '@ARG_NAME@' of @target@. */
#ifndef @guard@
#define @guard@
#if defined(__cplusplus)
#include \"modules/sdk/kernel_library.hpp\"
extern \"C\"
#else
#include \"modules/sdk/kernel_library.h\"
extern
#endif
    __attribute__((visibility(\"hidden\"))) const baton_embedded_kernels @symbol@;
#define baton_embedded_kernels_@ARG_NAME@ @symbol@
#endif
")
  set(definitions "")
  set(rows "")
  set(index 0)
  foreach(blob format IN ZIP_LISTS blobs formats)
    set(name ${symbol}_${index})
    string(APPEND definitions "__asm__(
    \".pushsection .rodata.baton_kernels,\\\"a\\\"\\n.balign 64\\n.hidden ${name}\\n.globl ${name}\\n${name}:\\n\"
    \".incbin \\\"${blob}\\\"\\n.hidden ${name}_end\\n.globl ${name}_end\\n${name}_end:\\n.byte 0\\n.popsection\\n\");
extern const char ${name}[] __attribute__((visibility(\"hidden\")));
extern const char ${name}_end[] __attribute__((visibility(\"hidden\")));\n")
    string(LENGTH ${format} length)
    string(APPEND rows "    {{\"${format}\", ${length}}, ${name}, ${name}_end},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(extension cpp)
  if("C" IN_LIST languages)
    set(extension c)
  endif()
  set(source ${folder}/${ARG_NAME}_kernels.${extension})
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "/* Made by embed_kernels.cmake. */
#include \"@ARG_NAME@_kernels.h\"

#if defined(__cplusplus)
extern \"C\" {
#endif
@definitions@
static const baton_embedded_variant variants[] = {
@rows@};
static baton_kernel_library* library;
const baton_embedded_kernels @symbol@ = {sizeof(baton_embedded_kernels), @index@, variants, \"@ARG_NAME@\", &library};
#if defined(__cplusplus)
}
#endif
")
  # It is C in targets that may have a precompiled header of C++.
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${blobs}" SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE ${source})
  target_include_directories(${target} PRIVATE ${folder} $<TARGET_PROPERTY:Baton::module_sdk,INTERFACE_INCLUDE_DIRECTORIES>)
endfunction()
