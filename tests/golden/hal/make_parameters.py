"""make_parameters.py out.safetensors|out.gguf|out.npz|packed.npz|out.npy: a matrix of f32, three bytes that leave what follows misaligned where nothing pads, and an f16 scalar behind them."""
import io
import json
import struct
import sys
import zipfile

parts = [("layer.weight", "F32", [2, 2], struct.pack("<4f", 1, 2, 3, 4.5)),
         ("three", "U8", [3], bytes([7, 8, 9])),
         ("scale", "F16", [], struct.pack("<e", 0.5))]


def safetensors():
    header, data = {"__metadata__": {"format": "pt \"\u00e4\""}}, b""
    for name, dtype, shape, part in parts:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def gguf():  # It has no bytes without a sign.
    def string(text):
        return struct.pack("<Q", len(text.encode())) + text.encode()
    header = b"GGUF" + struct.pack("<IQQ", 3, len(parts), 1) + string("general.name") + struct.pack("<I", 8) + string("\u00e4")
    data = b""
    for name, dtype, shape, part in parts:
        header += string(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        header += struct.pack("<IQ", {"F32": 0, "F16": 1, "U8": 24}[dtype], len(data))
        data += part + b"\0" * (-len(part) % 32)
    return header + b"\0" * (-len(header) % 32) + data


def npy(dtype, shape, part):
    head = repr({"descr": {"F32": "<f4", "F16": "<f2", "U8": "|u1"}[dtype], "fortran_order": False, "shape": tuple(shape)})
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + part


def npz(method):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as members:
        for name, *array in parts:
            members.writestr(name + ".npy", npy(*array))
    return archive.getvalue()


target = sys.argv[1]
kind = target.rsplit(".", 1)[1]
if kind == "npz":
    content = npz(zipfile.ZIP_DEFLATED if target.endswith("packed.npz") else zipfile.ZIP_STORED)
else:
    content = {"safetensors": safetensors, "gguf": gguf, "npy": lambda: npy(*parts[0][1:])}[kind]()
open(target, "wb").write(content)
