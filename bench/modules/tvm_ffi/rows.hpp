// What is measured of calls to and from TVM-FFI: each row calls a function of TVM-FFI's own way, and the same by Baton.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace baton::bench {

class Calls {
 public:
  virtual ~Calls() = default;
  virtual void run(int64_t count) const = 0;
};

struct TvmFfiRow {
  const char* name;
  const char* what;
  std::shared_ptr<const Calls> own, ours;
};

// `functions`: the library of tests/modules/tvm_ffi.
std::vector<TvmFfiRow> tvm_ffi_rows(const std::string& functions);

}  // namespace baton::bench
