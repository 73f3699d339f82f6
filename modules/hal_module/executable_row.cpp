#include "modules/hal_module/executable_row.hpp"

#include "hal/launch_attributes.hpp"

namespace baton::modules {
namespace {

// The code is used in place, so the executable shares the module's bytes.
class ModuleBytes final : public hal::ExecutableData {
 public:
  explicit ModuleBytes(ExecutableRow& row) : row_(&row) {}

 private:
  sdk::Ref<ExecutableRow> row_;
};

struct Wanted {
  size_t conditions = 0, constants = 0;
};

Wanted wanted_by(const bytecode::ExecutableView& row) {
  Wanted wanted;
  for (uint32_t i = 0; i < row.variant_count(); ++i) {
    wanted.conditions += row.variant(i).condition() == bytecode::kNoIndex ? 0 : 1;
    wanted.constants += row.variant(i).constants();
  }
  return wanted;
}

}  // namespace

Result<std::vector<hal::EntryPoint>> expected_of(const bytecode::ExecutableView& row, uint32_t variant) {
  std::vector<hal::EntryPoint> expected;
  for (uint32_t i = 0; i < row.entry_point_count(); ++i) {
    const std::optional<bytecode::LaunchRow> launch = row.launch_of(i, variant);
    if (!launch) return expected;  // Verified: then no entry point has one.
    const bytecode::EntryPointView entry = row.entry_point(i);
    const uint32_t(&size)[3] = launch->workgroup_size;
    expected.push_back({.name = std::string(entry.name()),
                        .constant_count = entry.constants(),
                        .binding_count = entry.binding_count(),
                        .workgroup_size = {size[0], size[1], size[2]},
                        .local_memory_bytes = launch->local_memory_bytes,
                        .layout_known = entry.knows_layout()});
    for (uint32_t j = 0; j < entry.attribute_count(); ++j) {
      const auto [name, value] = entry.attribute(j);
      BATON_TRY_CONTEXT(hal::set_launch_attribute(expected.back(), name, value),
                        text("for entry point '", entry.name(), "'"));
    }
  }
  return expected;
}

Result<Ref<hal::Executable>> load_row(hal::Device& device, ExecutableRow& row, std::span<const uint32_t> conditions,
                                      std::span<const uint32_t> constants) {
  const bytecode::ExecutableView view = (*row).view();
  const Wanted wanted = wanted_by(view);
  if (conditions.size() != wanted.conditions || constants.size() != wanted.constants) {
    return failure(StatusCode::kInvalidArgument, "Executable '", view.name(), "' takes ", wanted.conditions,
                   " conditions and ", wanted.constants, " constants; ", conditions.size(), " and ", constants.size(),
                   " are given.");
  }
  std::vector<hal::ExecutableVariant> variants;
  std::vector<std::vector<hal::EntryPoint>> expected(view.variant_count());
  for (uint32_t i = 0; i < view.variant_count(); ++i) {
    const bytecode::VariantView variant = view.variant(i);
    BATON_TRY_ASSIGN(expected[i], expected_of(view, i));
    hal::ExecutableVariant& made = variants.emplace_back();
    made = {variant.format(), (*row).module.rodata(variant.rodata()), constants.first(variant.constants()),
            expected[i]};
    constants = constants.subspan(variant.constants());
    if (variant.condition() == bytecode::kNoIndex) continue;
    made.ruled_out = conditions.front() == 0;
    conditions = conditions.subspan(1);
  }
  return device.make_executable(
      {.name = view.name(), .variants = variants, .expected_by_name = true, .data = make_ref<ModuleBytes>(row)});
}

}  // namespace baton::modules
