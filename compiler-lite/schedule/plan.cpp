#include "compiler-lite/schedule/plan.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace baton::compiler_lite::schedule {
namespace {

bool ranges_meet(const Touch& a, const Touch& b) {
  if (a.storage != b.storage) return false;
  if (a.offset == kUnknown || b.offset == kUnknown) return true;
  const bool a_ends_before = a.bytes != kUnknown && a.offset + a.bytes <= b.offset;
  const bool b_ends_before = b.bytes != kUnknown && b.offset + b.bytes <= a.offset;
  return !a_ends_before && !b_ends_before;
}

bool conflict(const PlannedCommand& earlier, const PlannedCommand& later) {
  for (const Touch& a : earlier.touches) {
    for (const Touch& b : later.touches) {
      if ((a.writes || b.writes) && ranges_meet(a, b)) return true;
    }
  }
  return false;
}

bool lives_meet(const Storage& a, const Storage& b) {
  return a.first_epoch <= b.last_epoch && b.first_epoch <= a.last_epoch;
}

int64_t align(int64_t bytes) { return (bytes + kTransientAlignment - 1) / kTransientAlignment * kTransientAlignment; }

// The lowest place that no storage of the same time has.
int64_t first_fit(const Storage& storage, const std::vector<const Storage*>& placed) {
  std::vector<const Storage*> neighbours;
  for (const Storage* other : placed) {
    if (lives_meet(storage, *other)) neighbours.push_back(other);
  }
  std::sort(neighbours.begin(), neighbours.end(),
            [](const Storage* a, const Storage* b) { return a->slab_offset < b->slab_offset; });
  int64_t offset = 0;
  for (const Storage* other : neighbours) {
    if (offset + storage.bytes <= other->slab_offset) break;
    offset = std::max(offset, align(other->slab_offset + other->bytes));
  }
  return offset;
}

void place_known(Plan& plan) {
  std::vector<Storage*> transients;
  for (Storage& storage : plan.storages) {
    if (storage.kind == StorageKind::kTransient && storage.used && storage.bytes != kUnknown) {
      transients.push_back(&storage);
    }
  }
  // Pointers into one array: equal sizes keep their order.
  std::sort(transients.begin(), transients.end(),
            [](const Storage* a, const Storage* b) { return a->bytes != b->bytes ? a->bytes > b->bytes : a < b; });
  std::vector<const Storage*> placed;
  for (Storage* storage : transients) {
    storage->slab_offset = first_fit(*storage, placed);
    plan.slab_bytes = std::max(plan.slab_bytes, align(storage->slab_offset + storage->bytes));
    placed.push_back(storage);
  }
}

void place_unknown(Plan& plan) {
  std::vector<std::vector<const Storage*>> tenants;
  for (Storage& storage : plan.storages) {
    if (storage.kind != StorageKind::kTransient || !storage.used || storage.bytes != kUnknown) continue;
    size_t region = 0;
    const auto is_free = [&](size_t candidate) {
      return plan.regions[candidate] == storage.size_class &&
             std::none_of(tenants[candidate].begin(), tenants[candidate].end(),
                          [&](const Storage* other) { return lives_meet(storage, *other); });
    };
    while (region < plan.regions.size() && !is_free(region)) ++region;
    if (region == plan.regions.size()) {
      plan.regions.push_back(storage.size_class);
      tenants.emplace_back();
    }
    storage.region = static_cast<unsigned>(region);
    tenants[region].push_back(&storage);
  }
}

std::string bytes_text(int64_t bytes) { return bytes == kUnknown ? "? bytes" : std::to_string(bytes) + " bytes"; }

void print_storage(const Plan& plan, size_t index, std::string& out) {
  static constexpr const char* kKinds[] = {"external", "constant", "result", "transient"};
  const Storage& storage = plan.storages[index];
  out += "  %" + std::to_string(index) + " " + kKinds[static_cast<size_t>(storage.kind)] + " " + storage.name + ", " +
         bytes_text(storage.bytes);
  if (storage.kind == StorageKind::kTransient && storage.used) {
    out += ", epochs " + std::to_string(storage.first_epoch) + " to " + std::to_string(storage.last_epoch);
    out += storage.bytes == kUnknown ? ", region " + std::to_string(storage.region)
                                     : ", slab at " + std::to_string(storage.slab_offset);
  }
  out += "\n";
}

std::string number_or_unknown(int64_t number) { return number == kUnknown ? "?" : std::to_string(number); }

void print_command(const PlannedCommand& command, std::string& out) {
  if (command.barrier_before) out += "  barrier\n";
  out += "  " + command.text;
  for (const Touch& touch : command.touches) {
    out += touch.writes ? (touch.reads ? " rw " : " w ") : " r ";
    out += text("%", touch.storage);
    if (touch.offset != 0 || touch.bytes != kUnknown) {
      out += text("[", number_or_unknown(touch.offset), " for ", number_or_unknown(touch.bytes), "]");
    }
  }
  out += "\n";
}

}  // namespace

void plan_barriers(Plan& plan) {
  unsigned epoch = 0;
  size_t since_barrier = 0;
  for (size_t i = 0; i < plan.commands.size(); ++i) {
    PlannedCommand& command = plan.commands[i];
    for (size_t j = since_barrier; j < i && !command.barrier_before; ++j) {
      command.barrier_before = conflict(plan.commands[j], command);
    }
    if (command.barrier_before) {
      since_barrier = i;
      ++epoch;
    }
    command.epoch = epoch;
    for (const Touch& touch : command.touches) {
      Storage& storage = plan.storages[touch.storage];
      if (!storage.used) storage.first_epoch = epoch;
      storage.last_epoch = epoch;
      storage.used = true;
    }
  }
}

void plan_memory(Plan& plan) {
  place_known(plan);
  place_unknown(plan);
}

std::string print_plan(const Plan& plan) {
  std::string out = "recording " + plan.name + (plan.recorded_once ? ", recorded once\n" : ", recorded by calls\n");
  for (size_t i = 0; i < plan.storages.size(); ++i) print_storage(plan, i, out);
  if (plan.has_slab()) {
    out += "  slab of " + bytes_text(plan.slab_bytes);
    if (!plan.regions.empty()) out += " and " + std::to_string(plan.regions.size()) + " regions";
    out += "\n";
  }
  for (const PlannedCommand& command : plan.commands) print_command(command, out);
  return out;
}

}  // namespace baton::compiler_lite::schedule
