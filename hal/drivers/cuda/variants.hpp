// Which formats of device code a CUDA device takes, and how well.
//
//   cuda-sm_90, cuda-sm_90a, cubin-sm_80   machine code for one architecture
//   cuda-fatbin, fatbin                    several in one; the driver picks
//   cuda-ptx-compute_80, ptx-compute_80    PTX that needs an architecture at least
//   cuda-ptx, ptx                          PTX that says so itself
//   cuda-nvptx-fb                          what compilers call their CUDA target: any of these, told by its first bytes
#pragma once

#include "hal/device.hpp"

namespace baton::hal::drivers::cuda {

// `arch` is 10 * major + minor of the device.
FormatMatch match_format(int arch, std::string_view format);

enum class CodeKind { kCubin, kFatbin, kPtx };
// By the first bytes; everything that is neither is taken for PTX, and the driver's compiler says what it thinks of it.
CodeKind code_kind(std::span<const std::byte> code);
std::string_view code_kind_name(CodeKind kind);

}  // namespace baton::hal::drivers::cuda
