// Checks the table of executables: names that tell rows apart, indices in range, conditions that can be asked, and of
// what stands once for each entry point, so many.
#include <algorithm>
#include <optional>
#include <vector>

#include "bytecode/module_verifier.hpp"

namespace baton::bytecode {
namespace {

constexpr uint32_t kWordsMax = 65535;  // Device code counts constants and bindings in 16 bits.
constexpr uint8_t kAccessMax = 3;      // hal/interface/numbers.hpp: reads and writes.
constexpr std::string_view kConditionSignature = "r<hal.device>_i";

// "Executable 1, variant 2": what a sentence is about.
std::string place(uint32_t executable, const char* part, uint32_t index) {
  return text("Executable ", executable, ", ", part, " ", index);
}

Status check_part_name(std::string_view name, uint32_t executable, const char* part, uint32_t index) {
  if (name.empty()) return refuse(Message::kNameEmpty, place(executable, part, index));
  if (has_nul(name)) return refuse(Message::kNameHasNul, place(executable, part, index));
  return Status();
}

// Any name that stands twice. Sorted, so that a hostile file costs n log n.
template <typename Rows>
std::optional<std::string_view> find_repeated_name(const Rows* rows) {
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < count_of(rows); ++i) names.push_back(view_of(rows->Get(i)->name()));
  std::sort(names.begin(), names.end());
  const auto repeated = std::adjacent_find(names.begin(), names.end());
  if (repeated == names.end()) return std::nullopt;
  return *repeated;
}

bool is_empty(const format::LaunchRow& row) {
  return row.workgroup_size_x() == 0 || row.workgroup_size_y() == 0 || row.workgroup_size_z() == 0;
}

Status refuse_launch(uint32_t executable, const char* part, uint32_t index, const format::LaunchRow& row) {
  return refuse(Message::kEmptyWorkgroup, place(executable, part, index), row.workgroup_size_x(),
                row.workgroup_size_y(), row.workgroup_size_z());
}

template <typename T>
uint64_t bytes_in(const flatbuffers::Vector<T>* rows, uint64_t row_bytes) {
  return count_of(rows) * row_bytes;
}

}  // namespace

Status ModuleVerifier::check_executables() const {
  const bool is_said = requires_executables();
  if (!is_said || facts_.executable_count == 0) {
    return refuse(Message::kExecutablesFeature, facts_.executable_count, is_said ? "requires" : "does not require");
  }
  for (uint32_t i = 0; i < facts_.executable_count; ++i) {
    const format::ExecutableRow& row = *module_->executables()->Get(i);
    const std::string_view name = view_of(row.name());
    BATON_TRY(check_name(name, "Executable", i));
    if (has_nul(view_of(row.registered_name()))) return refuse(Message::kNameHasNul, text("Executable ", i));
    const uint32_t variants = count_of(row.variants());
    if ((variants != 0) == !view_of(row.registered_name()).empty()) {
      return refuse(Message::kExecutableSource, i, name, variants, view_of(row.registered_name()));
    }
    BATON_TRY(check_entry_points(i, row));
    for (uint32_t j = 0; j < variants; ++j) {
      BATON_TRY(check_variant(i, j, *row.variants()->Get(j), count_of(row.entry_points())));
    }
  }
  const auto repeated = find_repeated_name(module_->executables());
  return repeated ? refuse(Message::kRepeated, "Executable", "name", *repeated) : Status();
}

// All entry points say how they are launched, or none: a device takes the list of them whole.
Status ModuleVerifier::check_entry_points(uint32_t index, const format::ExecutableRow& row) const {
  const uint32_t count = count_of(row.entry_points());
  uint32_t launches = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const format::EntryPointRow& entry = *row.entry_points()->Get(i);
    BATON_TRY(check_entry_point(index, i, entry));
    launches += entry.launch() ? 1 : 0;
  }
  if (launches != 0 && launches != count) return refuse(Message::kSomeLaunches, index, launches, count);
  const auto repeated = find_repeated_name(row.entry_points());
  return repeated ? refuse(Message::kRepeated, text("Executable ", index, ": entry point"), "name", *repeated)
                  : Status();
}

Status ModuleVerifier::check_entry_point(uint32_t index, uint32_t entry_point, const format::EntryPointRow& row) const {
  BATON_TRY(check_part_name(view_of(row.name()), index, "entry point", entry_point));
  const uint32_t bindings = count_of(row.bindings());
  const bool knows_layout = row.constants() != kNoIndex;
  if (!knows_layout && bindings != 0) return refuse(Message::kHalfLayout, index, entry_point, bindings);
  if (bindings > kWordsMax || (knows_layout && row.constants() > kWordsMax)) {
    return refuse(Message::kLargeLayout, place(index, "entry point", entry_point), row.constants(), bindings,
                  kWordsMax);
  }
  for (uint32_t i = 0; i < bindings; ++i) {
    const uint8_t access = row.bindings()->Get(i);
    if (access > kAccessMax) return refuse(Message::kBindingAccess, index, entry_point, i, uint32_t{access});
  }
  if (row.launch() && is_empty(*row.launch())) return refuse_launch(index, "entry point", entry_point, *row.launch());
  for (uint32_t i = 0; i < count_of(row.attributes()); ++i) {
    BATON_TRY(check_part_name(view_of(row.attributes()->Get(i)->name()), index, "launch attribute", i));
  }
  return Status();
}

Status ModuleVerifier::check_variant(uint32_t index, uint32_t variant, const format::VariantRow& row,
                                     uint32_t entry_points) const {
  BATON_TRY(check_part_name(view_of(row.format()), index, "variant", variant));
  if (has_nul(view_of(row.target()))) return refuse(Message::kNameHasNul, place(index, "variant", variant));
  if (row.rodata() >= facts_.rodata_count) {
    return refuse(Message::kIndexBeyond, text("Executable ", index, ", variant"), variant, "rodata", row.rodata(),
                  facts_.rodata_count);
  }
  if (row.condition() != kNoIndex) BATON_TRY(check_condition(index, variant, row.condition()));
  if (row.constants() > kWordsMax) {
    return refuse(Message::kLargeLayout, place(index, "variant", variant), row.constants(), 0u, kWordsMax);
  }
  const uint32_t launches = count_of(row.launches());
  if (launches != 0 && launches != entry_points) {
    return refuse(Message::kVariantLaunches, index, variant, launches, entry_points);
  }
  for (uint32_t i = 0; i < launches; ++i) {
    if (is_empty(*row.launches()->Get(i))) return refuse_launch(index, "variant", variant, *row.launches()->Get(i));
  }
  return Status();
}

Status ModuleVerifier::check_condition(uint32_t index, uint32_t variant, uint32_t function) const {
  if (function >= facts_.function_count) {
    return refuse(Message::kIndexBeyond, text("Executable ", index, ", variant"), variant, "condition function",
                  function, facts_.function_count);
  }
  const std::string_view signature = view().signature(module_->functions()->Get(function)->signature());
  if (signature == kConditionSignature) return Status();
  return refuse(Message::kConditionSignature, index, variant, function, signature, kConditionSignature);
}

uint64_t ModuleVerifier::executables_text_size() const {
  uint64_t total = 0;
  for (uint32_t i = 0; i < count_of(module_->executables()); ++i) {
    const format::ExecutableRow& row = *module_->executables()->Get(i);
    total += view_of(row.name()).size() + view_of(row.registered_name()).size();
    for (uint32_t j = 0; j < count_of(row.entry_points()); ++j) {
      const format::EntryPointRow& entry = *row.entry_points()->Get(j);
      total += view_of(entry.name()).size() + bytes_in(entry.bindings(), 1);
      for (uint32_t k = 0; k < count_of(entry.attributes()); ++k) {
        total += view_of(entry.attributes()->Get(k)->name()).size();
      }
    }
    for (uint32_t j = 0; j < count_of(row.variants()); ++j) {
      const format::VariantRow& variant = *row.variants()->Get(j);
      total += view_of(variant.format()).size() + view_of(variant.target()).size();
      total += bytes_in(variant.launches(), sizeof(format::LaunchRow));
    }
  }
  return total;
}

}  // namespace baton::bytecode
