// Accessors that read the flatbuffer in place. Every one leans on the verifier: indices below the counts, strings
// terminated, rows pointing where they may (verify_tables.cpp).
#include "bytecode/module_view.hpp"

#include "base/check.hpp"
#include "bytecode/flatbuffer_text.hpp"
#include "module_generated.h"

namespace baton::bytecode {
namespace {

std::string_view name_at(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* names, uint32_t index) {
  return names && index < names->size() ? view_of(names->Get(index)) : std::string_view();
}

}  // namespace

std::string_view ModuleView::name() const { return view_of(module_->name()); }
uint32_t ModuleView::version() const { return module_->version(); }
uint32_t ModuleView::isa_version() const { return module_->isa_version(); }

std::span<const uint64_t> ModuleView::code() const {
  const auto* code = module_->code();
  return code ? std::span<const uint64_t>(code->data(), code->size()) : std::span<const uint64_t>();
}

uint32_t ModuleView::function_count() const { return count_of(module_->functions()); }

FunctionView ModuleView::function(uint32_t index) const {
  BATON_ASSERT(index < function_count());
  const format::FunctionRow& row = *module_->functions()->Get(index);
  return {
      .code = code().subspan(row.code_begin(), row.code_size()),
      .signature = signature(row.signature()),
      .signature_index = row.signature(),
      .code_begin = row.code_begin(),
      .value_registers = row.value_registers(),
      .ref_registers = row.ref_registers(),
  };
}

uint32_t ModuleView::import_count() const { return count_of(module_->imports()); }

ImportView ModuleView::import(uint32_t index) const {
  BATON_ASSERT(index < import_count());
  const format::ImportRow& row = *module_->imports()->Get(index);
  return {
      .name = view_of(row.name()),
      .signature = signature(row.signature()),
      .minimum_version = row.minimum_version(),
      .optional = row.optional(),
      .fallback = row.fallback(),
  };
}

uint32_t ModuleView::export_count() const { return count_of(module_->exports()); }

ExportView ModuleView::export_at(uint32_t index) const {
  BATON_ASSERT(index < export_count());
  const format::ExportRow& row = *module_->exports()->Get(index);
  return {view_of(row.name()), row.function()};
}

std::optional<uint32_t> ModuleView::find_export(std::string_view name) const {
  uint32_t begin = 0;
  for (uint32_t end = export_count(); begin < end;) {
    const uint32_t middle = begin + (end - begin) / 2;
    const int order = export_at(middle).name.compare(name);
    if (order == 0) return middle;
    if (order < 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return std::nullopt;
}

uint32_t ModuleView::global_count() const { return count_of(module_->globals()); }

GlobalView ModuleView::global(uint32_t index) const {
  BATON_ASSERT(index < global_count());
  const format::GlobalRow& row = *module_->globals()->Get(index);
  const auto value_type = static_cast<ValueType>(row.type());
  const bool named = is_ref(value_type) && row.ref_type() != kNoIndex;
  return {
      .type = value_type,
      .is_mutable = row.mutable_(),
      .initial = row.initial(),
      .ref_type = named ? type(row.ref_type()) : std::string_view(),
  };
}

uint32_t ModuleView::rodata_count() const { return count_of(module_->rodata()); }

std::span<const std::byte> ModuleView::rodata(uint32_t index) const {
  BATON_ASSERT(index < rodata_count());
  const format::RodataRow& row = *module_->rodata()->Get(index);
  return bytes_.subspan(row.offset(), row.size());
}

uint32_t ModuleView::type_count() const { return count_of(module_->types()); }
std::string_view ModuleView::type(uint32_t index) const { return name_at(module_->types(), index); }
uint32_t ModuleView::signature_count() const { return count_of(module_->signatures()); }
std::string_view ModuleView::signature(uint32_t index) const { return name_at(module_->signatures(), index); }

uint32_t ModuleView::attribute_count() const { return count_of(module_->attributes()); }

AttributeView ModuleView::attribute(uint32_t index) const {
  BATON_ASSERT(index < attribute_count());
  const format::AttributeRow& row = *module_->attributes()->Get(index);
  return {row.function(), view_of(row.key()), view_of(row.value())};
}

uint32_t ModuleView::initializer() const { return module_->initializer(); }

bool ModuleView::has_debug() const { return module_->debug() != nullptr; }

std::string_view ModuleView::function_name(uint32_t index) const {
  return has_debug() ? name_at(module_->debug()->function_names(), index) : std::string_view();
}

std::string_view ModuleView::global_name(uint32_t index) const {
  return has_debug() ? name_at(module_->debug()->global_names(), index) : std::string_view();
}

std::string_view ModuleView::rodata_name(uint32_t index) const {
  return has_debug() ? name_at(module_->debug()->rodata_names(), index) : std::string_view();
}

uint32_t ModuleView::location_count() const { return has_debug() ? count_of(module_->debug()->locations()) : 0; }

LocationRowView ModuleView::location_row(uint32_t index) const {
  BATON_ASSERT(index < location_count());
  const format::LocationRow& row = *module_->debug()->locations()->Get(index);
  return {row.pc(), {name_at(module_->debug()->files(), row.file()), row.line(), row.column()}};
}

// The last row at or before pc.
std::optional<SourceLocation> ModuleView::location(uint32_t pc) const {
  // The last row, and the last function, that begin at or before pc.
  const auto last_begun = [pc](uint32_t count, auto begin_of) {
    uint32_t begin = 0;
    for (uint32_t end = count; begin < end;) {
      const uint32_t middle = begin + (end - begin) / 2;
      if (begin_of(middle) <= pc) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;  // One beyond it.
  };
  const uint32_t row = last_begun(location_count(), [this](uint32_t i) { return location_row(i).pc; });
  if (row == 0) return std::nullopt;
  const uint32_t function =
      last_begun(function_count(), [this](uint32_t i) { return module_->functions()->Get(i)->code_begin(); });
  const LocationRowView found = location_row(row - 1);
  if (function != 0 && found.pc < module_->functions()->Get(function - 1)->code_begin()) return std::nullopt;
  return found.source;
}

}  // namespace baton::bytecode
