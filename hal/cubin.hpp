// Reads from a cubin, without a driver, what it records about its kernels: names, parameters, the workgroup that they
// were compiled for.
//
// The bytes are guilty until read: nothing beyond their end is touched, whatever their tables say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace baton::hal {

struct CubinKernel {
  struct Parameter {
    uint32_t offset = 0;
    uint32_t bytes = 0;
  };
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t block_required[3] = {};  // 0: any.
};

struct Cubin {
  int arch = 0;  // 90 for sm_90; 0 where its ABI is not known here.
  std::vector<CubinKernel> kernels;
};

Result<Cubin> read_cubin(std::span<const std::byte> code);

}  // namespace baton::hal
