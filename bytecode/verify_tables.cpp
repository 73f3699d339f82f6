// Checks every table of the module except what the words of code mean (verify_code.cpp).
#include <algorithm>
#include <optional>

#include "base/bytes.hpp"
#include "bytecode/module_verifier.hpp"

namespace baton::bytecode {
namespace {

constexpr uint32_t kNamedMax = 65535;  // Functions and imports: 16-bit operands name them.

// A flatbuffer's verifier proves that vectors of 8-byte elements lie inside the file, not that they are aligned.
template <typename T>
bool is_aligned(const flatbuffers::Vector<T>* rows) {
  return count_of(rows) == 0 || reinterpret_cast<uintptr_t>(rows->Data()) % 8 == 0;
}

using Names = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

// Any text that stands twice. Few names are compared pair by pair; many are sorted, so that a hostile file costs n log
// n.
std::optional<std::string_view> find_repeated(const Names& names) {
  constexpr uint32_t kPairwiseMax = 8;
  const uint32_t count = names.size();
  if (count <= kPairwiseMax) {
    for (uint32_t i = 1; i < count; ++i) {
      for (uint32_t j = 0; j < i; ++j) {
        if (view_of(names.Get(i)) == view_of(names.Get(j))) return view_of(names.Get(i));
      }
    }
    return std::nullopt;
  }
  std::vector<std::string_view> sorted;
  sorted.reserve(count);
  for (const flatbuffers::String* name : names) sorted.push_back(view_of(name));
  std::sort(sorted.begin(), sorted.end());
  const auto repeated = std::adjacent_find(sorted.begin(), sorted.end());
  if (repeated == sorted.end()) return std::nullopt;
  return *repeated;
}

uint64_t bytes_of(const Names* names) {
  uint64_t total = 0;
  for (uint32_t i = 0; i < count_of(names); ++i) total += names->Get(i)->size();
  return total;
}

}  // namespace

Status ModuleVerifier::check_tables() {
  const std::string_view name = view_of(module_->name());
  if (name.empty()) return refuse(Message::kNameEmpty, "The module");
  if (has_nul(name)) return refuse(Message::kNameHasNul, "The module");
  facts_.executable_count = count_of(module_->executables());
  BATON_TRY(check_text_size());
  if (!is_aligned(module_->code())) return refuse(Message::kMisaligned, "instructions");
  if (!is_aligned(module_->globals())) return refuse(Message::kMisaligned, "globals");
  if (!is_aligned(module_->rodata())) return refuse(Message::kMisaligned, "rodata rows");
  if (count_of(module_->code()) != 0) facts_.code = {module_->code()->data(), module_->code()->size()};
  facts_.function_count = count_of(module_->functions());
  facts_.import_count = count_of(module_->imports());
  facts_.global_count = count_of(module_->globals());
  facts_.rodata_count = count_of(module_->rodata());
  facts_.type_count = count_of(module_->types());
  BATON_TRY(check_types());
  BATON_TRY(check_signatures());
  BATON_TRY(check_functions());
  BATON_TRY(check_imports());
  BATON_TRY(check_exports());
  BATON_TRY(check_globals());
  BATON_TRY(check_rodata());
  BATON_TRY(check_attributes());
  BATON_TRY(check_initializer());
  // Most modules have none, and don't pay for a call.
  if (facts_.executable_count != 0 || requires_executables()) BATON_TRY(check_executables());
  return check_debug();
}

// A flatbuffer may refer to one text from many places. Reading all texts must stay linear in the file nevertheless.
Status ModuleVerifier::check_text_size() const {
  constexpr uint64_t kSharedMax = 4;
  uint64_t total = module_->name()->size() + bytes_of(module_->types()) + bytes_of(module_->signatures());
  for (uint32_t i = 0; i < count_of(module_->imports()); ++i) total += module_->imports()->Get(i)->name()->size();
  for (uint32_t i = 0; i < count_of(module_->exports()); ++i) total += module_->exports()->Get(i)->name()->size();
  for (uint32_t i = 0; i < count_of(module_->attributes()); ++i) {
    const format::AttributeRow& row = *module_->attributes()->Get(i);
    total += row.key()->size() + row.value()->size();
  }
  if (const format::DebugTable* debug = module_->debug()) {
    total += bytes_of(debug->function_names()) + bytes_of(debug->global_names()) + bytes_of(debug->rodata_names()) +
             bytes_of(debug->files());
  }
  if (facts_.executable_count != 0) total += executables_text_size();
  const uint64_t limit = kSharedMax * table_size_bytes_;
  return total <= limit ? Status() : refuse(Message::kTextTooLarge, total, limit);
}

Status ModuleVerifier::check_types() const {
  for (uint32_t i = 0; i < facts_.type_count; ++i) {
    const std::string_view type = view_of(module_->types()->Get(i));
    if (!is_type_name(type)) return refuse(Message::kTypeName, i, type);
  }
  if (facts_.type_count == 0) return Status();
  const auto repeated = find_repeated(*module_->types());
  return repeated ? refuse(Message::kRepeated, "Type", "name", *repeated) : Status();
}

Status ModuleVerifier::check_signatures() {
  const uint32_t count = count_of(module_->signatures());
  if (count == 0) return Status();
  facts_.signatures = shapes_.take(count);
  bool any_variadic = false;
  for (uint32_t i = 0; i < count; ++i) {
    const Result<SignatureShape> shape = signature_shape(view_of(module_->signatures()->Get(i)));
    if (!shape) return refuse(Message::kMalformedSignature, i, shape.error().message());
    facts_.signatures[i] = *shape;
    any_variadic |= shape->segments != 0;
  }
  if (any_variadic) note_segments();
  const auto repeated = find_repeated(*module_->signatures());
  return repeated ? refuse(Message::kRepeated, "Signature", "text", *repeated) : Status();
}

void ModuleVerifier::note_segments() {
  facts_.segments_begin.reserve(facts_.signatures.size());
  for (size_t i = 0; i < facts_.signatures.size(); ++i) {
    const size_t begin = facts_.segments.size();
    facts_.segments_begin.push_back(static_cast<uint32_t>(begin));
    facts_.segments.resize(begin + facts_.signatures[i].segments);
    if (facts_.signatures[i].segments == 0) continue;
    segment_shapes(view_of(module_->signatures()->Get(static_cast<uint32_t>(i))), &facts_.segments[begin]);
  }
}

// Functions cover the code in order and without gaps, so that a word belongs to exactly one.
Status ModuleVerifier::check_functions() const {
  const uint32_t count = facts_.function_count;
  if (count > kNamedMax) return refuse(Message::kTooMany, count, "functions", kNamedMax);
  uint64_t end = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const format::FunctionRow& row = *module_->functions()->Get(i);
    if (row.code_begin() != end) return refuse(Message::kFunctionGap, i, row.code_begin(), end);
    if (!range_inside(end, row.code_size(), facts_.code.size())) {
      return refuse(Message::kFunctionOutside, i, row.code_size(), facts_.code.size());
    }
    end += row.code_size();
    BATON_TRY(check_frame(i, row));
  }
  return end == facts_.code.size() ? Status() : refuse(Message::kCodeLeftOver, facts_.code.size(), end);
}

Status ModuleVerifier::check_frame(uint32_t index, const format::FunctionRow& row) const {
  if (row.signature() >= facts_.signatures.size()) {
    return refuse(Message::kIndexBeyond, "Function", index, "signature", row.signature(), facts_.signatures.size());
  }
  const SignatureShape& shape = facts_.signatures[row.signature()];
  if (shape.segments != 0) return refuse(Message::kVariadicFunction, index, view().signature(row.signature()));
  const uint16_t values = std::max(shape.argument_values, shape.result_values);
  const uint16_t refs = std::max(shape.argument_refs, shape.result_refs);
  if (row.value_registers() < values)
    return refuse(Message::kSmallFrame, index, row.value_registers(), "value", values);
  if (row.ref_registers() < refs) return refuse(Message::kSmallFrame, index, row.ref_registers(), "reference", refs);
  return Status();
}

Status ModuleVerifier::check_imports() const {
  const uint32_t count = facts_.import_count;
  if (count > kNamedMax) return refuse(Message::kTooMany, count, "imports", kNamedMax);
  for (uint32_t i = 0; i < count; ++i) {
    const format::ImportRow& row = *module_->imports()->Get(i);
    const std::string_view name = view_of(row.name());
    BATON_TRY(check_name(name, "Import", i));
    const size_t dot = name.find('.');
    if (dot == 0 || dot == name.npos || dot + 1 == name.size()) return refuse(Message::kImportName, i, name);
    if (row.signature() >= facts_.signatures.size()) {
      return refuse(Message::kIndexBeyond, "Import", i, "signature", row.signature(), facts_.signatures.size());
    }
    if (row.fallback() != kNoIndex) BATON_TRY(check_fallback(i, row));
  }
  return Status();
}

Status ModuleVerifier::check_fallback(uint32_t index, const format::ImportRow& row) const {
  const std::string_view name = view_of(row.name());
  if (!row.optional()) return refuse(Message::kFallbackNotOptional, index, name);
  if (row.fallback() >= facts_.function_count) {
    return refuse(Message::kIndexBeyond, "Import", index, "fallback function", row.fallback(), facts_.function_count);
  }
  const uint32_t signature = module_->functions()->Get(row.fallback())->signature();
  if (signature == row.signature()) return Status();
  return refuse(Message::kFallbackSignature, index, name, view().signature(row.signature()), row.fallback(),
                view().signature(signature));
}

// Strictly ascending, so that an export is found by halving.
Status ModuleVerifier::check_exports() const {
  std::string_view previous;
  for (uint32_t i = 0; i < count_of(module_->exports()); ++i) {
    const format::ExportRow& row = *module_->exports()->Get(i);
    const std::string_view name = view_of(row.name());
    BATON_TRY(check_name(name, "Export", i));
    if (name <= previous) return refuse(Message::kExportOrder, i, name, previous);
    if (row.function() >= facts_.function_count) {
      return refuse(Message::kIndexBeyond, "Export", i, "function", row.function(), facts_.function_count);
    }
    previous = name;
  }
  return Status();
}

// Initial values are register bits: the high half of a 32-bit type is 0 there too (value_type.hpp).
Status ModuleVerifier::check_globals() const {
  for (uint32_t i = 0; i < facts_.global_count; ++i) {
    const format::GlobalRow& row = *module_->globals()->Get(i);
    if (row.type() > static_cast<uint8_t>(ValueType::kRef))
      return refuse(Message::kGlobalType, i, uint32_t{row.type()});
    const auto type = static_cast<ValueType>(row.type());
    const uint64_t limit = type == ValueType::kI32 || type == ValueType::kF32 ? UINT32_MAX
                           : is_ref(type)                                     ? 0
                                                                              : UINT64_MAX;
    if (row.initial() > limit) return refuse(Message::kGlobalInitial, i, hex(row.initial()), value_type_name(type));
    if (row.reserved() != 0 || (!is_ref(type) && row.ref_type() != 0)) return refuse(Message::kGlobalReserved, i);
    if (is_ref(type) && row.ref_type() != kNoIndex && row.ref_type() >= facts_.type_count) {
      return refuse(Message::kIndexBeyond, "Global", i, "type", row.ref_type(), facts_.type_count);
    }
  }
  return Status();
}

Status ModuleVerifier::check_rodata() const {
  uint64_t end = table_size_bytes_;
  for (uint32_t i = 0; i < facts_.rodata_count; ++i) {
    const format::RodataRow& row = *module_->rodata()->Get(i);
    if (row.offset() % kRodataAlignment != 0) {
      return refuse(Message::kRodataMisaligned, i, row.offset(), kRodataAlignment);
    }
    if (row.offset() < end) return refuse(Message::kRodataOrder, i, row.offset(), end);
    if (!range_inside(row.offset(), row.size(), bytes_.size())) {
      return refuse(Message::kRodataOutside, i, row.size(), row.offset(), bytes_.size());
    }
    end = row.offset() + row.size();
  }
  return Status();
}

Status ModuleVerifier::check_attributes() const {
  for (uint32_t i = 0; i < count_of(module_->attributes()); ++i) {
    const format::AttributeRow& row = *module_->attributes()->Get(i);
    BATON_TRY(check_name(view_of(row.key()), "Attribute", i));
    if (has_nul(view_of(row.value()))) return refuse(Message::kNameHasNul, text("Attribute ", i));
    if (row.function() != kNoIndex && row.function() >= facts_.function_count) {
      return refuse(Message::kIndexBeyond, "Attribute", i, "function", row.function(), facts_.function_count);
    }
  }
  return Status();
}

Status ModuleVerifier::check_initializer() const {
  const uint32_t function = module_->initializer();
  if (function == kNoIndex) return Status();
  if (function >= facts_.function_count) {
    return refuse(Message::kIndexBeyond, "Initializer", "of the module", "function", function, facts_.function_count);
  }
  const std::string_view signature = view().signature(module_->functions()->Get(function)->signature());
  return signature == "v_v" ? Status() : refuse(Message::kInitializer, function, signature);
}

// Names may be empty here: a thing without a name is called by its index.
Status ModuleVerifier::check_debug() const {
  const format::DebugTable* debug = module_->debug();
  if (!debug) return Status();
  struct {
    const Names* names;
    uint32_t count;
    const char* kind;
  } const tables[] = {
      {debug->function_names(), facts_.function_count, "function"},
      {debug->global_names(), facts_.global_count, "global"},
      {debug->rodata_names(), facts_.rodata_count, "rodata"},
      {debug->files(), count_of(debug->files()), "file"},
  };
  for (const auto& table : tables) {
    if (!table.names) continue;
    if (table.names->size() != table.count) {
      return refuse(Message::kDebugNames, table.names->size(), table.kind, table.count);
    }
    for (uint32_t i = 0; i < table.count; ++i) {
      if (has_nul(view_of(table.names->Get(i))))
        return refuse(Message::kNameHasNul, text("Debug ", table.kind, " ", i));
    }
  }
  return check_locations(*debug);
}

Status ModuleVerifier::check_locations(const format::DebugTable& debug) const {
  const uint32_t file_count = count_of(debug.files());
  int64_t previous = -1;
  for (uint32_t i = 0; i < count_of(debug.locations()); ++i) {
    const format::LocationRow& row = *debug.locations()->Get(i);
    if (row.pc() <= previous) return refuse(Message::kLocationOrder, i, row.pc(), previous);
    if (row.pc() >= facts_.code.size()) {
      return refuse(Message::kIndexBeyond, "Location", i, "word", row.pc(), facts_.code.size());
    }
    if (row.file() >= file_count) return refuse(Message::kIndexBeyond, "Location", i, "file", row.file(), file_count);
    previous = row.pc();
  }
  return Status();
}

}  // namespace baton::bytecode
