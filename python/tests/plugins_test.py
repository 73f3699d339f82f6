"""A plugin is written with what the package has: headers, the compiler, the device."""
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import baton

HALVES = """
#include "modules/sdk/module.hpp"

using namespace baton::sdk;

class Halves final : public Module<Halves> {
 public:
  Status halve(CommandBuffer& rec, Binding<const float> x, Binding<float> y) {
    return rec.host([](std::span<const float> from, std::span<float> to) {
      for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] / 2;
    }, x, y);
  }
};
BATON_EXPORT_MODULE(Halves, "halves", BATON_COMMAND("halve", &Halves::halve, kHostOnly));
"""
MEAN = """
func.func private @halves.halve(%x: tensor<4xf32>) -> tensor<4xf32> attributes {iree.abi.streamable}
func.func @mean(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %sum = arith.addf %a, %b : tensor<4xf32>
  %mean = call @halves.halve(%sum) : (tensor<4xf32>) -> tensor<4xf32>
  return %mean : tensor<4xf32>
}
"""


def compiled(name, source, folder, *flags):
    compiler = shutil.which({"cpp": "c++", "c": "cc"}[name.partition(".")[2]])
    if compiler is None:
        pytest.skip(f"{name} needs a compiler")
    (folder / name).write_text(source)
    library = folder / f"{name}.so"
    subprocess.run([compiler, *flags, "-shared", "-fPIC", f"-I{baton.get_include()}", folder / name, "-o", library], check=True)
    return library


def test_a_command_is_built_with_the_packages_headers(tmp_path):
    library = compiled("halves.cpp", HALVES, tmp_path, "-std=c++20")
    try:
        program = baton.load(baton.compile(MEAN), device="local-sync", modules=[library])
    except baton.UnavailableError as error:
        pytest.skip(str(error))
    assert np.asarray(program.mean(np.arange(4, dtype=np.float32), np.ones(4, np.float32))).tolist() == [0.5, 1, 1.5, 2]


@pytest.mark.parametrize("header", ["modules/sdk/baton.h", "hal/drivers/local/cpu_kernel.h"])
def test_the_headers_are_c(tmp_path, header):
    assert (pathlib.Path(baton.get_include()) / header).is_file()
    compiled("empty.c", f'#include "{header}"\n', tmp_path, "-std=c11", "-Wall", "-Werror")
