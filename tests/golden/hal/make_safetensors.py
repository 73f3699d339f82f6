"""make_safetensors.py out.safetensors: a matrix of f32, three bytes that leave what follows misaligned, and an f16 scalar behind them."""
import json
import struct
import sys

parts = [("layer.weight", "F32", [2, 2], struct.pack("<4f", 1, 2, 3, 4.5)),
         ("three", "U8", [3], bytes([7, 8, 9])),
         ("scale", "F16", [], struct.pack("<e", 0.5))]
header, data = {"__metadata__": {"format": "pt \"\u00e4\""}}, b""
for name, dtype, shape, part in parts:
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
    data += part
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + data)
