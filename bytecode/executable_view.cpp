// Accessors that lean on verify_executables.cpp as module_view.cpp leans on verify_tables.cpp.
#include "bytecode/executable_view.hpp"

#include "base/check.hpp"
#include "bytecode/flatbuffer_text.hpp"
#include "module_generated.h"

namespace baton::bytecode {
namespace {

LaunchRow launch_from(const format::LaunchRow& row) {
  return {{row.workgroup_size_x(), row.workgroup_size_y(), row.workgroup_size_z()}, row.local_memory_bytes()};
}

}  // namespace

std::string_view EntryPointView::name() const { return view_of(row_->name()); }
bool EntryPointView::knows_layout() const { return row_->constants() != kNoIndex; }
uint32_t EntryPointView::constants() const { return knows_layout() ? row_->constants() : 0; }
uint32_t EntryPointView::binding_count() const { return count_of(row_->bindings()); }
uint8_t EntryPointView::binding(uint32_t index) const { return row_->bindings()->Get(index); }

std::optional<LaunchRow> EntryPointView::launch() const {
  if (!row_->launch()) return std::nullopt;
  return launch_from(*row_->launch());
}

uint32_t EntryPointView::attribute_count() const { return count_of(row_->attributes()); }

LaunchAttributeView EntryPointView::attribute(uint32_t index) const {
  BATON_ASSERT(index < attribute_count());
  const format::LaunchAttributeRow& row = *row_->attributes()->Get(index);
  return {view_of(row.name()), row.value()};
}

std::string_view VariantView::format() const { return view_of(row_->format()); }
std::string_view VariantView::target() const { return view_of(row_->target()); }
uint32_t VariantView::rodata() const { return row_->rodata(); }
uint32_t VariantView::condition() const { return row_->condition(); }
uint32_t VariantView::constants() const { return row_->constants(); }
bool VariantView::has_launches() const { return count_of(row_->launches()) != 0; }
LaunchRow VariantView::launch(uint32_t entry_point) const { return launch_from(*row_->launches()->Get(entry_point)); }

std::string_view ExecutableView::name() const { return view_of(row_->name()); }
std::string_view ExecutableView::registered_name() const { return view_of(row_->registered_name()); }
uint32_t ExecutableView::entry_point_count() const { return count_of(row_->entry_points()); }

EntryPointView ExecutableView::entry_point(uint32_t index) const {
  BATON_ASSERT(index < entry_point_count());
  return EntryPointView(row_->entry_points()->Get(index));
}

uint32_t ExecutableView::variant_count() const { return count_of(row_->variants()); }

VariantView ExecutableView::variant(uint32_t index) const {
  BATON_ASSERT(index < variant_count());
  return VariantView(row_->variants()->Get(index));
}

std::optional<LaunchRow> ExecutableView::launch_of(uint32_t index, uint32_t of_variant) const {
  if (of_variant != kNoIndex && variant(of_variant).has_launches()) return variant(of_variant).launch(index);
  return entry_point(index).launch();
}

uint32_t ModuleView::executable_count() const { return count_of(module_->executables()); }

ExecutableView ModuleView::executable(uint32_t index) const {
  BATON_ASSERT(index < executable_count());
  return ExecutableView(module_->executables()->Get(index));
}

}  // namespace baton::bytecode
