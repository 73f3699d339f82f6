"""Writes a safetensors file of two tensors of f32: w, 0 to 5 as 2 x 3, and other, 1 to 3."""
import json
import struct
import sys

header = json.dumps({"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
                     "other": {"dtype": "F32", "shape": [3], "data_offsets": [24, 36]}}).encode()
header += b" " * (-len(header) % 8)
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header + struct.pack("<9f", *range(6), 1, 2, 3))
