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
