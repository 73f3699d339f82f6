// A recording's plan: which commands, which memory they touch, where barriers must stand, and where transient memory
// lies. It knows no MLIR: sizes that only the running program knows are unknown here, and count as different from all
// others but those of the same class.
//
// The flow: the scheduler fills `storages` and `commands` in program order; plan_barriers groups the commands into
// epochs, which a barrier parts; plan_memory gives transient storages a place such that nothing in it needs a further
// barrier.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace baton::compiler_lite::schedule {

inline constexpr int64_t kUnknown = -1;
// Where a transient begins: the strictest of what kernels and devices ask for.
inline constexpr int64_t kTransientAlignment = 64;

enum class StorageKind { kExternal, kConstant, kResult, kTransient };

// Memory that commands of one recording use.
struct Storage {
  StorageKind kind = StorageKind::kExternal;
  int64_t bytes = kUnknown;
  // Transients of unknown size: those with the same number have the same size.
  unsigned size_class = 0;
  std::string name = {};  // For people.

  // By plan_barriers: the first and the last epoch that uses it.
  unsigned first_epoch = 0;
  unsigned last_epoch = 0;
  bool used = false;
  // By plan_memory, for transients: where it lies in the slab; or, with an unknown size, which of the regions behind
  // the part of known size it has.
  int64_t slab_offset = kUnknown;
  unsigned region = 0;
};

struct Touch {
  unsigned storage = 0;
  int64_t offset = 0;        // kUnknown: anywhere in it.
  int64_t bytes = kUnknown;  // kUnknown: to the end.
  bool reads = false;
  bool writes = false;
};

struct PlannedCommand {
  std::string text = {};  // For people.
  std::vector<Touch> touches = {};
  bool barrier_before = false;
  unsigned epoch = 0;
};

struct Plan {
  std::string name = {};
  bool recorded_once = false;
  std::vector<Storage> storages = {};
  std::vector<PlannedCommand> commands = {};

  int64_t slab_bytes = 0;  // Of what has a known size.
  // The size class of each region behind it.
  std::vector<unsigned> regions = {};

  bool has_slab() const { return slab_bytes > 0 || !regions.empty(); }
};

// A barrier stands before a command that reads what an earlier one wrote, or writes what an earlier one read or wrote,
// since the last barrier; nowhere else.
void plan_barriers(Plan& plan);

// Transients whose epochs don't meet may share memory. Known sizes: first fit, the larger ones first. Unknown ones:
// shared within a class.
void plan_memory(Plan& plan);

std::string print_plan(const Plan& plan);

}  // namespace baton::compiler_lite::schedule
