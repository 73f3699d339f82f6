// Executable: a loaded library of kernels (executable_library.h) and the environment they are called with.
//
// Threads: immutable but for the measured costs.
#pragma once

#include <memory>
#include <vector>

#include "hal/drivers/local/executable_library.h"
#include "hal/drivers/local/measured_cost.hpp"
#include "hal/executable.hpp"

namespace baton::hal::drivers::local {

class DispatchTimes;
class KernelImports;

// Mapped code; unmapped with the last reference. One that knows where it lies tells what of it is at an address: bytes,
// text up to its zero, code. The system's loader keeps that to itself, and says yes to all.
class CodeImage : public RefCounted<CodeImage> {
 public:
  virtual ~CodeImage() = default;
  virtual bool holds(const void* /*address*/, uint64_t /*size*/) const { return true; }
  virtual bool holds_text(const char* /*text*/) const { return true; }
  virtual bool holds_code(const void* /*address*/) const { return true; }
};

// What a loader found in the bytes: the function that gives the library, and what must stay mapped as long as it is
// used. The image is null for code that is part of the process.
struct LoadedCode {
  baton_executable_library_query_function query;
  Ref<CodeImage> image;
};

struct ExecutableContext {
  const void* device;
  const KernelImports& imports;
  uint32_t max_concurrency;
  std::shared_ptr<DispatchTimes> dispatch_times;  // Or null.
};

class Executable final : public hal::Executable {
 public:
  static Result<Ref<hal::Executable>> make(const ExecutableContext& context, const ExecutableRequest& request,
                                           LoadedCode code);

  baton_kernel kernel(uint32_t entry_point) const { return library_->kernels[entry_point]; }
  // What a workgroup takes.
  MeasuredCost& tile_cost(uint32_t entry_point) const { return tile_costs_[entry_point]; }
  const baton_executable_environment& environment() const { return environment_; }
  uint32_t max_concurrency() const { return max_concurrency_; }
  // The access that failed its check; null for an unknown number.
  const baton_access_check* access_check(uint32_t number) const;
  DispatchTimes* dispatch_times() const { return dispatch_times_.get(); }

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  Executable(const ExecutableContext& context, const ExecutableRequest& request, Ref<CodeImage> image);

  Status adopt_library(const baton_executable_library* library, size_t constant_count);
  Status check_expected(std::span<const EntryPoint> expected, bool by_name);

  Ref<CodeImage> image_;
  const baton_executable_library* library_ = nullptr;  // In the image.
  std::unique_ptr<MeasuredCost[]> tile_costs_;         // By entry point.
  uint32_t max_concurrency_;
  const std::shared_ptr<DispatchTimes> dispatch_times_;
  std::vector<uint32_t> constants_;
  std::vector<baton_import_function> import_functions_;
  std::vector<void*> import_contexts_;
  baton_executable_environment environment_{};
};

}  // namespace baton::hal::drivers::local
