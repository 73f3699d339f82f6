# What the functions of this folder are given is looked at first; what is wrong is a sentence.

# baton_check_target(<what> <target>): there is one, to put something into.
function(baton_check_target what target)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${what}: there is no target '${target}' yet; add_executable() or add_library() stands before")
  endif()
endfunction()

# baton_check_files(<what> <file>...): each is there, or made by this project. Paths are absolute.
function(baton_check_files what)
  foreach(file IN LISTS ARGN)
    get_source_file_property(made "${file}" GENERATED)
    if(IS_DIRECTORY "${file}")
      message(FATAL_ERROR "${what}: '${file}' is a folder")
    elseif(NOT made AND NOT EXISTS "${file}")
      message(FATAL_ERROR "${what}: there is no file '${file}'")
    endif()
  endforeach()
endfunction()

# baton_check_name(<what> <name>): it is one of C, for arrays and symbols.
function(baton_check_name what name)
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z_0-9]*$")
    message(FATAL_ERROR "${what}: NAME is '${name}', and must be a name of C")
  endif()
endfunction()

# baton_claim_file(<what> <file> <advice>): nobody else makes it.
function(baton_claim_file what file advice)
  get_property(taken GLOBAL PROPERTY "baton_made_${file}")
  if(taken)
    message(FATAL_ERROR "${what}: '${file}' is made by ${taken} already; ${advice}")
  endif()
  set_property(GLOBAL PROPERTY "baton_made_${file}" "${what}")
endfunction()

# baton_own_stem(<result> <file> <taken>): the stem of a file, with a number behind it where a file of `taken`, a list of stems
# that grows, has the same.
macro(baton_own_stem result file taken)
  get_filename_component(${result} ${file} NAME_WE)
  if(${result} IN_LIST ${taken})
    list(LENGTH ${taken} baton_own_stem_number)
    string(APPEND ${result} "-${baton_own_stem_number}")
  endif()
  list(APPEND ${taken} ${${result}})
endmacro()

# Into `files`, `cuda_files` and `cpu_files` of the function that calls it: what ARG_FILES names, each once, and whose kernels are in it.
macro(baton_read_kernel_files)
  set(files)
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(file ${file} ABSOLUTE)
    list(APPEND files ${file})
  endforeach()
  list(REMOVE_DUPLICATES files)
  set(cuda_files ${files})
  set(cpu_files ${files})
  list(FILTER cuda_files INCLUDE REGEX "\\.cu$")
  list(FILTER cpu_files INCLUDE REGEX "\\.(c|cpp)$")
endmacro()
