# cmake "-DFILES=a.elf;b.elf" -DHEADER=out.hpp -P embed_files.cmake: the bytes of each file as an array of its stem.
set(text "// Made from files by embed_files.cmake.\n#pragma once\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "alignas(64) inline constexpr unsigned char ${name}[] = {${bytes}};\n")
endforeach()
file(WRITE ${HEADER} "${text}")
