"""Times loading of a module through IREE's Python interface; contender_iree.py runs it with the interpreter that has the packages.

Prints nanoseconds per load, the median of 31. Python's own share is a few microseconds, which a large module hides.
"""

import statistics
import sys
import time

from iree import runtime

instance = runtime.VmInstance()
image = open(sys.argv[1], "rb").read()
samples = []
for _ in range(31):
    start = time.thread_time_ns()
    runtime.VmModule.copy_buffer(instance, image)
    samples.append(time.thread_time_ns() - start)
print(statistics.median(samples))
