// Triton's kernels: what its compiler writes beside a cubin (<kernel>.json), checked against the cubin itself.
//
// Triton launches a grid of programs, each a workgroup of 32 threads for each warp, and passes pointers to scratch
// memory behind the user's arguments: none, one or two by its version, told apart by what the metadata names.
#pragma once

#include <string>

#include "hal/cubin.hpp"
#include "modules/kernel_library/kernel_library.hpp"

namespace baton::modules {

struct TritonKernel {
  std::string name;
  std::string version;                                  // "3.6.0"; empty where it is not told.
  int arch = 0;                                         // 90 for sm_90.
  std::vector<hal::CubinKernel::Parameter> parameters;  // The user's.
  KernelDefaults launch;
};

// Both as Triton's compiler wrote them.
Result<TritonKernel> read_triton(std::string_view metadata, std::span<const std::byte> cubin);

// A library of the kernel alone; its launches need a grid of programs and the user's arguments, and nothing else.
Result<Ref<KernelLibrary>> make_triton_library(std::string_view metadata, std::span<const std::byte> cubin,
                                               std::shared_ptr<const hal::DriverRegistry> drivers = nullptr);

}  // namespace baton::modules
