"""What the author of a plugin needs from this package: the headers of modules/sdk."""
import pathlib


def get_include():
    """The folder for -I of whoever compiles a module or a CPU kernel: `#include "modules/sdk/module.hpp"`. The headers need
    the C and C++ standard libraries and nothing else; there is nothing to link."""
    return str(pathlib.Path(__file__).parent.absolute() / "include")
