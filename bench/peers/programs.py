"""The programs of this bench, what they are called with, and what they must answer."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    name: str  # of a file in programs/
    inputs: tuple[str, ...]
    starts: str  # how the value line of the first result begins, in both tools' text


PROGRAMS = [
    Program("scalars", ("1000",), "i32=0"),
    Program("add", ("4096xf32=2", "4096xf32=3"), "4096xf32=5 5"),
    Program("add_dynamic", ("4096xf32=2", "4096xf32=3"), "4096xf32=5 5"),
    Program("add_large", ("16777216xf32=2", "16777216xf32=3"), "16777216xf32=5 5"),
    Program("chain", ("1048576xf32=2",), "1048576xf32=0 0"),
    Program("row_sums", ("4096x1024xf32=0.5",), "4096xf32=512 512"),
    Program("total", ("16777216xf32=1",), "f32=1.67772E+07"),
    Program("matmul", ("512x512xf32=2", "512x512xf32=3"), "512x512xf32=[3072 3072"),
    Program("layer", ("128x256xf32=2", "256x512xf32=3", "512xf32=4"), "128x512xf32=[1540 1540"),
]
