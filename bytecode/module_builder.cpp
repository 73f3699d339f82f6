#include "bytecode/module_builder.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "bytecode/opcode.hpp"
#include "module_generated.h"

namespace baton::bytecode {
namespace {

// Operands name functions and imports with 16 bits.
constexpr size_t kNamedMax = 65535;
// A flatbuffer's offsets are signed 32 bits; names and tables get the rest.
constexpr uint64_t kCodeBytesMax = uint64_t{1} << 30;

uint64_t rodata_begin(uint64_t container_size) { return align_up(container_size, kRodataAlignment); }

}  // namespace

uint32_t ModuleBuilder::InternTable::add(std::string_view name) {
  if (const auto found = indices.find(name); found != indices.end()) return found->second;
  const auto index = static_cast<uint32_t>(names.size());
  names.emplace_back(name);
  indices.emplace(name, index);
  return index;
}

uint32_t ModuleBuilder::add_type(std::string_view name) { return types_.add(name); }

// The type table also lists the reference types that signatures name (module.fbs).
uint32_t ModuleBuilder::add_signature(std::string_view signature) {
  for (size_t open = signature.find('<'); open != signature.npos; open = signature.find('<', open + 1)) {
    const size_t close = signature.find('>', open);
    if (close == signature.npos) break;
    add_type(signature.substr(open + 1, close - open - 1));
  }
  return signatures_.add(signature);
}

uint32_t ModuleBuilder::add_import(Import import) {
  add_signature(import.signature);
  imports_.push_back(std::move(import));
  return static_cast<uint32_t>(imports_.size() - 1);
}

uint32_t ModuleBuilder::add_global(Global global) {
  if (!global.ref_type.empty()) add_type(global.ref_type);
  globals_.push_back(std::move(global));
  return static_cast<uint32_t>(globals_.size() - 1);
}

uint32_t ModuleBuilder::add_rodata(std::string_view name, std::span<const std::byte> bytes, bool share) {
  if (share) {
    const auto found = std::find_if(rodata_.begin(), rodata_.end(), [&](const Rodata& segment) {
      return std::equal(segment.bytes.begin(), segment.bytes.end(), bytes.begin(), bytes.end());
    });
    if (found != rodata_.end()) return static_cast<uint32_t>(found - rodata_.begin());
  }
  rodata_.push_back({std::string(name), {bytes.begin(), bytes.end()}});
  return static_cast<uint32_t>(rodata_.size() - 1);
}

uint32_t ModuleBuilder::declare_function(std::string_view name, std::string_view signature) {
  Function function;
  function.name = name;
  function.signature = add_signature(signature);
  functions_.push_back(std::move(function));
  return function_count() - 1;
}

void ModuleBuilder::define_function(uint32_t function, std::vector<uint64_t> code, uint16_t value_registers,
                                    uint16_t ref_registers, std::vector<Location> locations) {
  Function& target = functions_[function];
  BATON_CHECK(!target.defined);
  target.value_registers = value_registers;
  target.ref_registers = ref_registers;
  target.defined = true;
  target.code = std::move(code);
  target.locations = std::move(locations);
}

uint32_t ModuleBuilder::add_executable(ExecutableRow row) {
  executables_.push_back(std::move(row));
  return static_cast<uint32_t>(executables_.size() - 1);
}

void ModuleBuilder::add_export(std::string_view name, uint32_t function) {
  if (!exports_.emplace(name, function).second) repeated_exports_.emplace_back(name);
}

void ModuleBuilder::add_attribute(uint32_t function_or_none, std::string_view key, std::string_view value) {
  attributes_.push_back({function_or_none, std::string(key), std::string(value)});
}

Status ModuleBuilder::check() const {
  if (functions_.size() > kNamedMax || imports_.size() > kNamedMax) {
    return failure(StatusCode::kResourceExhausted, "The module has ", functions_.size(), " functions and ",
                   imports_.size(), " imports (at most ", kNamedMax, " of each).");
  }
  if (!repeated_exports_.empty()) {
    return failure(StatusCode::kAlreadyExists, "Two functions are exported as '", repeated_exports_.front(), "'.");
  }
  uint64_t code_bytes = 0;
  for (const Function& function : functions_) {
    if (!function.defined) {
      return failure(StatusCode::kFailedPrecondition, "Function '", function.name, "' is declared but never defined.");
    }
    code_bytes += function.code.size() * sizeof(uint64_t);
  }
  if (code_bytes > kCodeBytesMax) {
    return failure(StatusCode::kResourceExhausted, "The code has ", code_bytes, " bytes (at most ", kCodeBytesMax,
                   ").");
  }
  return {};
}

// Turns the builder's lists into the tables of module.fbs. Every vector is written, empty or not, so that a module has
// one spelling; only the debug table and the table of executables may be absent.
class ModuleBuilder::Serializer {
 public:
  explicit Serializer(const ModuleBuilder& module) : module_(module) {}

  std::vector<std::byte> file() {
    build_.FinishSizePrefixed(root(), format::ModuleIdentifier());
    uint64_t end = rodata_begin(build_.GetSize());
    std::vector<format::RodataRow> rows = rodata_rows(end);
    std::vector<std::byte> bytes(end);
    std::memcpy(bytes.data(), build_.GetBufferPointer(), build_.GetSize());
    patch_rodata(bytes, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].size() != 0) std::memcpy(&bytes[rows[i].offset()], module_.rodata_[i].bytes.data(), rows[i].size());
    }
    return bytes;
  }

 private:
  template <typename T>
  using Vector = flatbuffers::Offset<flatbuffers::Vector<T>>;
  using String = flatbuffers::Offset<flatbuffers::String>;

  // The segments' places in a file whose rodata begins at `end`; moves `end` behind the last segment.
  std::vector<format::RodataRow> rodata_rows(uint64_t& end) const {
    std::vector<format::RodataRow> rows;
    for (const Rodata& segment : module_.rodata_) {
      const uint64_t begin = align_up(end, kRodataAlignment);
      rows.emplace_back(begin, segment.bytes.size());
      end = begin + segment.bytes.size();
    }
    return rows;
  }

  // The rows were written before the container's size, and so their offsets, could be known.
  static void patch_rodata(std::vector<std::byte>& bytes, const std::vector<format::RodataRow>& rows) {
    const auto* table = flatbuffers::GetSizePrefixedRoot<format::Module>(bytes.data())->rodata();
    const auto* target = reinterpret_cast<const std::byte*>(table->Data());
    const size_t offset = static_cast<size_t>(target - bytes.data());
    if (!rows.empty()) std::memcpy(&bytes[offset], rows.data(), rows.size() * sizeof(format::RodataRow));
  }

  flatbuffers::Offset<format::Module> root() {
    const String name = build_.CreateString(module_.name_);
    const Vector<String> types = build_.CreateVectorOfStrings(module_.types());
    const Vector<String> signatures = build_.CreateVectorOfStrings(module_.signatures());
    const Vector<uint64_t> code = this->code();
    const auto functions = build_.CreateVectorOfStructs(function_rows_);
    const auto imports = this->imports();
    const auto exports = this->exports();
    const auto globals = this->globals();
    const auto rodata = build_.CreateVectorOfStructs(std::vector<format::RodataRow>(module_.rodata_.size()));
    const auto attributes = this->attributes();
    const auto debug = module_.debug_ ? this->debug() : flatbuffers::Offset<format::DebugTable>();
    const auto executables = executable_rows();
    const uint64_t features = module_.executables_.empty() ? 0 : kFeatureExecutables;
    return format::CreateModule(build_, kFormatVersion, kIsaVersion, features, name, module_.version_, types,
                                signatures, functions, code, imports, exports, globals, rodata, attributes,
                                module_.initializer_, debug, executables);
  }

  Vector<uint64_t> code() {
    std::vector<uint64_t> words;
    for (const Function& function : module_.functions_) {
      function_rows_.emplace_back(static_cast<uint32_t>(words.size()), static_cast<uint32_t>(function.code.size()),
                                  function.signature, function.value_registers, function.ref_registers);
      words.insert(words.end(), function.code.begin(), function.code.end());
    }
    return build_.CreateVector(words);
  }

  Vector<flatbuffers::Offset<format::ImportRow>> imports() {
    std::vector<flatbuffers::Offset<format::ImportRow>> rows;
    for (const Import& import : module_.imports_) {
      const uint32_t index = module_.signatures_.index(import.signature);
      rows.push_back(format::CreateImportRow(build_, build_.CreateString(import.name), index, import.minimum_version,
                                             import.optional, import.fallback));
    }
    return build_.CreateVector(rows);
  }

  Vector<flatbuffers::Offset<format::ExportRow>> exports() {
    std::vector<flatbuffers::Offset<format::ExportRow>> rows;
    for (const auto& [name, function] : module_.exports_) {
      rows.push_back(format::CreateExportRow(build_, build_.CreateString(name), function));
    }
    return build_.CreateVector(rows);
  }

  Vector<const format::GlobalRow*> globals() {
    std::vector<format::GlobalRow> rows;
    for (const Global& global : module_.globals_) {
      const uint32_t type = is_ref(global.type) ? type_index(global.ref_type) : 0;
      rows.emplace_back(global.initial, static_cast<uint8_t>(global.type), global.is_mutable, uint16_t{0}, type);
    }
    return build_.CreateVectorOfStructs(rows);
  }

  uint32_t type_index(const std::string& ref_type) const {
    if (ref_type.empty()) return kNoIndex;  // any reference
    return module_.types_.index(ref_type);
  }

  // The module's own first, then by function: the order in which text lists them.
  Vector<flatbuffers::Offset<format::AttributeRow>> attributes() {
    std::vector<const Attribute*> ordered;
    for (const Attribute& attribute : module_.attributes_) ordered.push_back(&attribute);
    // kNoIndex wraps to 0. Equals stay in order: the pointers go into one vector.
    std::sort(ordered.begin(), ordered.end(), [](const Attribute* a, const Attribute* b) {
      return std::pair(a->function + 1, a) < std::pair(b->function + 1, b);
    });
    std::vector<flatbuffers::Offset<format::AttributeRow>> rows;
    for (const Attribute* attribute : ordered) {
      const String key = build_.CreateString(attribute->key);
      const String value = build_.CreateString(attribute->value);
      rows.push_back(format::CreateAttributeRow(build_, attribute->function, key, value));
    }
    return build_.CreateVector(rows);
  }

  template <typename Row>
  using Rows = Vector<flatbuffers::Offset<Row>>;

  // Null when there are none: files without executables are as they were before there was a table of them.
  Rows<format::ExecutableRow> executable_rows() {
    std::vector<flatbuffers::Offset<format::ExecutableRow>> rows;
    for (const ExecutableRow& row : module_.executables_) {
      const String name = build_.CreateString(row.name);
      const String registered = optional_text(row.registered_name);
      const auto entry_points = this->entry_points(row);
      rows.push_back(format::CreateExecutableRow(build_, name, registered, entry_points, variants(row)));
    }
    return rows.empty() ? Rows<format::ExecutableRow>() : build_.CreateVector(rows);
  }

  String optional_text(const std::string& text) { return text.empty() ? String() : build_.CreateString(text); }

  static format::LaunchRow launch_row(const LaunchRow& launch) {
    const uint32_t(&size)[3] = launch.workgroup_size;
    return {size[0], size[1], size[2], launch.local_memory_bytes};
  }

  Rows<format::EntryPointRow> entry_points(const ExecutableRow& executable) {
    std::vector<flatbuffers::Offset<format::EntryPointRow>> rows;
    for (const EntryPointRow& row : executable.entry_points) {
      std::vector<flatbuffers::Offset<format::LaunchAttributeRow>> attributes;
      for (const LaunchAttributeRow& each : row.attributes) {
        attributes.push_back(format::CreateLaunchAttributeRow(build_, build_.CreateString(each.name), each.value));
      }
      const String name = build_.CreateString(row.name);
      const Vector<uint8_t> bindings = build_.CreateVector(row.bindings);
      const auto launch = row.launch ? launch_row(*row.launch) : format::LaunchRow();
      rows.push_back(format::CreateEntryPointRow(build_, name, row.constants, bindings, row.launch ? &launch : nullptr,
                                                 build_.CreateVector(attributes)));
    }
    return build_.CreateVector(rows);
  }

  Rows<format::VariantRow> variants(const ExecutableRow& executable) {
    std::vector<flatbuffers::Offset<format::VariantRow>> rows;
    for (const VariantRow& row : executable.variants) {
      std::vector<format::LaunchRow> launches;
      for (const LaunchRow& launch : row.launches) launches.push_back(launch_row(launch));
      const String name = build_.CreateString(row.format);
      const String target = optional_text(row.target);
      rows.push_back(format::CreateVariantRow(build_, name, target, row.rodata, row.condition, row.constants,
                                              build_.CreateVectorOfStructs(launches)));
    }
    return build_.CreateVector(rows);
  }

  template <typename T>
  Vector<String> names(const std::vector<T>& things) {
    std::vector<String> names;
    for (const T& thing : things) names.push_back(build_.CreateString(thing.name));
    return build_.CreateVector(names);
  }

  flatbuffers::Offset<format::DebugTable> debug() {
    InternTable files;
    std::vector<format::LocationRow> rows;
    for (size_t i = 0; i < module_.functions_.size(); ++i) {
      for (const Location& location : module_.functions_[i].locations) {
        rows.emplace_back(function_rows_[i].code_begin() + location.pc, files.add(location.file), location.line,
                          location.column);
      }
    }
    const auto functions = names(module_.functions_);
    const auto globals = names(module_.globals_);
    const auto rodata = names(module_.rodata_);
    const auto file_names = build_.CreateVectorOfStrings(files.names);
    const auto locations = build_.CreateVectorOfStructs(rows);
    return format::CreateDebugTable(build_, functions, globals, rodata, file_names, locations);
  }

  const ModuleBuilder& module_;
  flatbuffers::FlatBufferBuilder build_;
  std::vector<format::FunctionRow> function_rows_;
};

Result<std::vector<std::byte>> ModuleBuilder::finish() const {
  BATON_TRY(check());
  return Serializer(*this).file();
}

}  // namespace baton::bytecode
