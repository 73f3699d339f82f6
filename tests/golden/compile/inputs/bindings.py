"""Prints how the symbols of these names are bound in an ELF file: GLOBAL, WEAK."""

import struct
import sys

data = open(sys.argv[1], "rb").read()
begin, = struct.unpack_from("<Q", data, 40)
count, = struct.unpack_from("<H", data, 60)
sections = [struct.unpack_from("<IIQQQQIIQQ", data, begin + 64 * i) for i in range(count)]
for section in sections:
    if section[1] != 2:  # SHT_SYMTAB
        continue
    strings = sections[section[6]][4]
    for at in range(section[4], section[4] + section[5], 24):
        name_at, info = struct.unpack_from("<IB", data, at)
        name = data[strings + name_at:data.index(b"\0", strings + name_at)].decode()
        if name in sys.argv[2:]:
            print(name, {0: "LOCAL", 1: "GLOBAL", 2: "WEAK"}.get(info >> 4, info >> 4))
