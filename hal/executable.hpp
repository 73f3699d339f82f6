// Executable: loaded device code; its entry points are found by name and launched by dispatch commands.
//
// A program carries a fat set of variants of the same code, each in a format ("embedded-elf-x86_64", "cuda-sm_90").
// Device::make_executable takes the most specific that the device accepts.
// Threads: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ref.hpp"
#include "base/result.hpp"

namespace baton::hal {

struct ExecutableVariant {
  std::string_view format = {};
  std::span<const std::byte> data = {};  // Used in place: must live as long as the executable.
  // Specialization constants of this variant alone; empty: the request's.
  std::span<const uint32_t> constants = {};
  // What the program believes of the entry points in this variant's code; empty: what it believes of the request's.
  std::span<const struct EntryPoint> expected = {};
  // A condition of the program rules the variant out; it only keeps its number.
  bool ruled_out = false;
};

// The owner of the variants' bytes; the executable shares it.
// Threads: immutable.
class ExecutableData : public RefCounted<ExecutableData> {
 public:
  virtual ~ExecutableData() = default;
};

struct ExecutableRequest {
  std::string_view name = {};  // For messages and traces.
  std::span<const ExecutableVariant> variants = {};
  std::span<const uint32_t> constants = {};  // Specialization: read by the code at load and later.
  // What the program believes the entry points to be, by ordinal; checked where the format knows them. May be empty.
  std::span<const struct EntryPoint> expected = {};
  // The program finds them by name: `expected` may be some of them in any order. Code by kernels alone has no other
  // order.
  bool expected_by_name = false;
  Ref<ExecutableData> data = nullptr;  // Null: the caller keeps the bytes.
};

// What an entry point wants of its launches beyond a workgroup's size; a device that has no such thing takes no notice,
// one that has and cannot do it refuses the executable.
struct LaunchAttributes {
  uint32_t cluster_size[3] = {};  // Workgroups that run together; 0: as the code says.
  bool cooperative = false;       // All workgroups run at the same time, and may wait for each other.
  bool early = false;             // May begin before what it stands behind is done; the kernel waits for it itself.
  std::optional<uint32_t> local_memory_carveout_percent = {};  // Of the fast memory that caches share with it.
  int32_t priority = 0;                                        // Greater is more urgent.
  uint32_t subgroup_size = 0;                                  // Threads that the code believes to go in step; 0: any.

  bool has_cluster() const { return cluster_size[0] > 1 || cluster_size[1] > 1 || cluster_size[2] > 1; }
  bool operator==(const LaunchAttributes&) const = default;
};

// A parameter of a kernel, where its code tells them one by one.
struct KernelParameter {
  uint16_t bytes = 0;
  bool is_binding = false;  // A pointer that a binding fills; else constants do.
  uint16_t place = 0;       // In the bytes of the constants, where the code says it (EntryPoint::places_known).

  bool operator==(const KernelParameter&) const = default;
};

struct EntryPoint {
  std::string name = {};
  uint32_t constant_count = 0;
  uint32_t binding_count = 0;
  uint32_t workgroup_size[3] = {1, 1, 1};
  uint32_t local_memory_bytes = 0;
  LaunchAttributes launch = {};
  uint64_t workgroups_max = 0;  // Of one launch, where there is such a limit beside the grid's; else 0.
  // False where the format says nothing about constants and bindings; then any count is taken.
  bool layout_known = true;
  // Of what a request told of its parameters, the code says where each of them lies in the constants; else they are words
  // in their order.
  bool places_known = false;
  // Of a request: what the caller passes, parameter by parameter, in any order; empty: the caller does not tell. A
  // device whose code does not tell takes no notice.
  std::vector<KernelParameter> parameters = {};
  // Of a request that does not tell its parameters: which ones of the code's bindings fill, rising; empty: the first
  // ones.
  std::vector<uint32_t> binding_places = {};

  bool operator==(const EntryPoint&) const = default;
};

// NOT_FOUND with the names that are nearest, or with all where they are few: `whose` is "Executable 'kernels'".
Status no_entry_point(std::string_view whose, std::string_view name, std::span<const std::string_view> names);

class Executable : public RefCounted<Executable> {
 public:
  virtual ~Executable() = default;

  const std::string& name() const { return name_; }
  std::span<const EntryPoint> entry_points() const { return entry_points_; }
  // The index of the entry point for Dispatch, or NOT_FOUND with the nearest names.
  virtual Result<uint32_t> find(std::string_view entry_point);
  // Which device may run it.
  const void* device() const { return device_; }
  // The number of the variant that the device took.
  uint32_t variant() const { return variant_; }

 protected:
  Executable(const ExecutableRequest& request, const void* device)
      : name_(request.name), device_(device), data_(request.data) {}

  std::vector<EntryPoint> entry_points_;  // Filled by the driver before anyone else sees the executable.

 private:
  std::string name_;
  const void* device_;
  Ref<ExecutableData> data_;
  uint32_t variant_ = 0;
  friend class Device;  // Chooses the variant, and notes it before anyone else sees the executable.
};

}  // namespace baton::hal
