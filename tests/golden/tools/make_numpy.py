"""make_numpy.py folder: two.npy (a 2x2 i32 and three f32), turned.npy (the same matrix in Fortran order), stored.npz and packed.npz (both by name), cut.npy and cut.npz (halves)."""
import os
import struct
import sys
import zipfile


def npy(descr, shape, data, fortran=False):
    head = repr({"descr": descr, "fortran_order": fortran, "shape": shape})
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + data


matrix = npy("<i4", (2, 2), struct.pack("<4i", 1, 2, 3, 4))
numbers = npy("<f4", (3,), struct.pack("<3f", 1.5, 2.5, 3.5))
os.makedirs(sys.argv[1], exist_ok=True)
os.chdir(sys.argv[1])
files = {"two.npy": matrix + numbers, "turned.npy": npy("<i4", (2, 2), struct.pack("<4i", 1, 3, 2, 4), True)}
for name, method in (("stored.npz", zipfile.ZIP_STORED), ("packed.npz", zipfile.ZIP_DEFLATED)):
    with zipfile.ZipFile(name, "w", method) as archive:
        archive.writestr("matrix.npy", matrix)
        archive.writestr("numbers.npy", numbers)
files["cut.npy"] = matrix[:130]
files["cut.npz"] = open("stored.npz", "rb").read()[:200]
for name, content in files.items():
    open(name, "wb").write(content)
