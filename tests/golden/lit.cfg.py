# How lit runs the golden tests. A file says everything itself: how it is run (RUN:) and what must come out (CHECK:).
import glob
import os
import sys

import lit.formats

config.name = "golden"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".bvmasm", ".test"]
config.test_source_root = config.source_dir
config.test_exec_root = config.build_dir

# Tools by their own names; a test that names a tool we lack fails instead of finding another on the machine.
for tool in sorted(os.listdir(config.tools_dir), key=len, reverse=True):
    config.substitutions.append((rf"(?<![-/\w])\b{tool}\b(?![-\w/.])", os.path.join(config.tools_dir, tool)))
config.substitutions.append((r"(?<![-/\w])\bFileCheck\b", config.filecheck))
config.substitutions.append((r"(?<![-/\w])\bnot\b(?=\s)", config.not_program))
config.substitutions.append(("%plugins", config.plugin_dir))
config.substitutions.append(("%kernels", config.kernel_dir))
config.substitutions.append(("%samples", config.sample_dir))
config.substitutions.append(("%libraries", os.path.join(os.path.dirname(config.tools_dir), "libraries")))
config.substitutions.append(("%{python}", sys.executable))
# What the validation layer says of a test ends its process; where there is none nothing watches. The sanitizers would watch the layer.
LAYERS = ("/usr/share/vulkan/explicit_layer.d", "/etc/vulkan/explicit_layer.d", "/usr/local/share/vulkan/explicit_layer.d")
IS_WATCHED = not config.sanitized and any(os.path.exists(f"{folder}/VkLayer_khronos_validation.json") for folder in LAYERS)
config.substitutions.append(("%vulkan", "vulkan?vulkan_validation=fatal" if IS_WATCHED else "vulkan"))
# Two GPUs and NCCL that are faked, in place of the machine's: %{fake_gpu} baton-run-module ...
config.substitutions.append(("%{fake_gpu}", f"env BATON_FAKE_DEVICES=2 LD_LIBRARY_PATH={config.fake_gpu_dir} BATON_NCCL={config.fake_gpu_dir}/libnccl.so.2"))
if not config.emulated and os.path.exists(f"{config.fake_gpu_dir}/libcuda.so.1"):
    config.available_features.add("fake-gpu")
config.excludes = ["native", "inputs"]  # what tests use, and no tests
config.environment["PATH"] = "/usr/bin:/bin"
for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# NVIDIA's linker is there or not; what is told without it is tested everywhere.
if glob.glob("/usr/local/cuda/lib64/libnvJitLink.so*"):
    config.available_features.add("nvjitlink")
if all(os.path.exists(f"/usr/local/cuda/bin/{tool}") for tool in ("ptxas", "nvlink")):
    config.available_features.add("cuda-linker")
if not config.emulated:  # Else drivers and libraries of the host's architecture are not there, and starting takes longer.
    config.available_features.add("native")
    if not config.sanitized:
        config.available_features.add("plain")
