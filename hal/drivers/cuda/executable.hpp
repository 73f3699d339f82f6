// Executable: a CUDA library (cuLibrary*: it belongs to no context) and its kernels, ready to launch.
//
// Kernels take a pointer for each binding, in order, then the constants: each parameter behind the pointers takes as
// many 32-bit constants as it has words, one if it is smaller. What the program says is checked against what the code
// says when it is loaded, never at a launch.
// Threads: immutable.
#pragma once

#include "hal/drivers/common/access_checks.hpp"
#include "hal/drivers/cuda/code_library.hpp"
#include "hal/drivers/cuda/driver.hpp"
#include "hal/drivers/cuda/memory.hpp"
#include "hal/executable.hpp"

namespace baton::hal::drivers::cuda {

// Where a constant goes in the parameters of a kernel.
struct ConstantPlace {
  uint16_t offset;
  uint16_t bytes;
};

// What a launch and a node read stands first.
struct alignas(64) Kernel {
  CUkernel handle = nullptr;
  uint32_t block[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;     // Asked for at launch.
  uint32_t parameter_bytes = 0;  // All parameters, as the code lays them out.
  bool has_gaps = false;         // Some bytes are only alignment.
  bool cooperative = false;      // Its nodes take parameters one by one.
  bool early = false;            // Stands behind other kernels by a programmatic edge.
  // For a launch on a stream; for a node, all but the order.
  std::vector<CUlaunchAttribute> attributes;
  std::vector<uint16_t> offsets;   // Of all parameters.
  std::vector<uint16_t> pointers;  // By binding: where its address goes.
  std::vector<ConstantPlace> constants;
  std::string name;
  // Of one that checks its accesses: by binding where its length goes, and where the address of what it writes down.
  std::vector<uint16_t> lengths;
  uint16_t failed_access = 0;
};

// The most that the parameters of a launch may take; what every driver since the first took.
inline constexpr uint32_t kParameterBytesMax = 4096;

class Executable final : public hal::Executable {
 public:
  struct Code {
    const ExecutableRequest& request;
    const ExecutableVariant& variant;
    const FunctionList& functions;  // What the variant may import; null for none.
    Memory& memory;
  };
  static Result<Ref<hal::Executable>> make(Ref<PrimaryContext> context, const void* device, const Code& code);

  const Kernel& kernel(uint32_t entry_point) const { return kernels_[entry_point]; }
  // Whether its kernels check their accesses.
  bool checks_accesses() const { return checks_accesses_; }
  Status access_refused(uint32_t entry_point, const FailedAccess& failed) const;

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  Executable(Ref<PrimaryContext> context, const ExecutableRequest& request, const void* device)
      : hal::Executable(request, device), context_(std::move(context)) {}

  Status load(const Code& code);
  Status read_access_checks(Memory& memory);
  size_t take_checking_parameters(Kernel& kernel, std::span<const CodeParameter> parameters) const;
  void forget_code() {
    code_ = {};
    ptx_ = std::string();
  }
  Status adopt(std::string_view name, CUkernel handle, const EntryPoint* expected);
  Status lay_out(Kernel& kernel, EntryPoint& entry, const EntryPoint* expected) const;
  Status require_block(Kernel& kernel, EntryPoint& entry) const;
  Status check_launch(const Kernel& kernel, const EntryPoint& entry) const;
  // launch_attributes.cpp
  Status read_cluster(Kernel& kernel, EntryPoint& entry) const;
  Status set_attributes(Kernel& kernel, EntryPoint& entry) const;
  Status set_cluster(Kernel& kernel, const EntryPoint& entry) const;
  Status set_cooperative(Kernel& kernel, EntryPoint& entry) const;
  Status set_priority(Kernel& kernel, const EntryPoint& entry) const;
  Status check_subgroup(const EntryPoint& entry) const;
  Status set_carveout(const Kernel& kernel, const EntryPoint& entry) const;

  const Ref<PrimaryContext> context_;
  std::unique_ptr<CodeLibrary> library_;
  std::vector<Kernel> kernels_;
  bool checks_accesses_ = false;
  std::vector<AccessCheck> access_checks_;
  std::span<const std::byte> code_;  // While it is loaded.
  std::string ptx_;                  // Then too: without its comments, if it is PTX.
};

}  // namespace baton::hal::drivers::cuda
