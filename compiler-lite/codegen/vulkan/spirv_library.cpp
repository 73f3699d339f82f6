#include "compiler-lite/codegen/vulkan/spirv_library.hpp"

#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "compiler-lite/codegen/vulkan/glsl.hpp"
#include "hal/interface/spirv.hpp"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace baton::compiler_lite::codegen::vulkan {
namespace {

namespace spv = hal::spirv;
using mlir::failure;
using mlir::FailureOr;

using Words = llvm::ArrayRef<uint32_t>;

constexpr uint32_t kVersion = 0x00010500, kIdsMax = 0x3fffff;
constexpr uint32_t kAddressing = 5348, kLogical = 0, kVulkanModel = 3, kGlsl450Model = 1;
constexpr llvm::StringLiteral kMain = "main";

// What a module of SPIR-V says of its functions. Ids are looked up in maps, so no number of the file is an index.
class Reader {
 public:
  explicit Reader(Words words) : words_(words) {}

  // What is wrong; empty: nothing.
  std::string read() {
    if (words_.size() < spv::kHeaderWords || words_[0] != spv::kMagic) return "it is no SPIR-V of this byte order";
    if (words_[1] > kVersion || words_[1] < 0x00010000) return "its version is not one of 1.0 to 1.5";
    if (words_[3] > kIdsMax) return "it has more ids than SPIR-V allows";
    for (size_t at = spv::kHeaderWords; at < words_.size();) {
      const uint32_t length = words_[at] >> 16;
      if (length == 0 || length > words_.size() - at) return "an instruction reaches beyond its end";
      if (std::string problem = visit(words_[at] & 0xffff, words_.slice(at, length)); !problem.empty()) return problem;
      at += length;
    }
    return {};
  }

  std::map<uint32_t, std::string> exported, names;
  std::map<uint32_t, std::string> foreign;  // What a function does that it must not.
  bool has_addresses = true, orders_memory = false;

  LibraryFunction describe(uint32_t id, std::string name) const {
    LibraryFunction made{std::move(name), {}, {}, {}};
    if (const auto found = foreign.find(id); found != foreign.end()) made.problem = found->second;
    const auto function = functions_.find(id);
    const auto type = function == functions_.end() ? types_.end() : types_.find(function->second);
    if (type == types_.end() || type->second[0] != spv::kTypeFunction) {
      made.problem = "nothing says its type";
      return made;
    }
    const std::optional<LibraryValue> result = value(type->second[1]);
    if (!result || result->by_pointer) made.problem = "its result is no single value of 32 or 64 bits";
    if (result) made.result = *result;
    for (const uint32_t each : llvm::ArrayRef(type->second).drop_front(2)) {
      const std::optional<LibraryValue> parameter = value(each);
      if (!parameter || parameter->kind == LibraryValue::Kind::kNone) {
        made.problem = "parameter " + std::to_string(made.parameters.size()) +
                       " is no single value of 32 or 64 bits; a pointer is taken as uint64_t, its address";
      }
      made.parameters.push_back(parameter.value_or(LibraryValue()));
    }
    return made;
  }

 private:
  static std::string text_at(Words words, size_t first) {
    if (first >= words.size()) return {};
    const auto* start = reinterpret_cast<const char*>(words.data() + first);
    return std::string(start, strnlen(start, 4 * (words.size() - first)));
  }

  std::string visit(uint32_t op, Words words) {
    const size_t size = words.size();
    switch (op) {
      case spv::kMemoryModel:
        if (size < 3 || (words[1] != kAddressing && words[1] != kLogical)) return "its addressing is not Vulkan's";
        orders_memory = words[2] == kVulkanModel;
        return words[2] == kVulkanModel || words[2] == kGlsl450Model ? "" : "its memory model is not Vulkan's";
      case spv::kName:
        if (size > 2) names[words[1]] = text_at(words, 2);
        return {};
      case spv::kDecorate:
        if (size > 4 && words[2] == spv::kLinkageAttributes) {
          std::string name = text_at(words, 3);
          if (words.back() == spv::kExport) exported[words[1]] = name;
          if (words.back() == spv::kImport) return "it needs '" + name + "' itself, which is not looked for";
        }
        return {};
      case spv::kFunction:
        if (size < 5) return "a function is cut off";
        function_ = words[2];
        functions_[words[2]] = words[4];
        return {};
      case spv::kControlBarrier: foreign[function_] = "it has a barrier, which a function can't"; return {};
      case spv::kTypeVoid:
      case spv::kTypeBool:
      case spv::kTypeInt:
      case spv::kTypeFloat:
      case spv::kTypePointer:
      case spv::kTypeFunction: return declare(op, words);
      default: return {};
    }
  }

  std::string declare(uint32_t op, Words words) {
    const size_t least = op == spv::kTypeVoid || op == spv::kTypeBool ? 2
                         : op == spv::kTypeFloat                      ? 3
                         : op == spv::kTypeFunction                   ? 3
                                                                      : 4;
    if (words.size() < least) return "a type is cut off";
    std::vector<uint32_t>& type = types_[words[1]];
    type = {op};
    type.insert(type.end(), words.begin() + 2, words.end());
    return {};
  }

  std::optional<LibraryValue> value(uint32_t id) const {
    const auto found = types_.find(id);
    if (found == types_.end()) return std::nullopt;
    const std::vector<uint32_t>& type = found->second;
    using Kind = LibraryValue::Kind;
    switch (type[0]) {
      case spv::kTypeVoid: return LibraryValue{};
      case spv::kTypeBool: return LibraryValue{Kind::kBool, 1};
      case spv::kTypeInt:
      case spv::kTypeFloat:
        if (type[1] != 32 && type[1] != 64) return std::nullopt;
        if (type[0] == spv::kTypeFloat) return LibraryValue{Kind::kFloat, type[1]};
        return LibraryValue{Kind::kInteger, type[1], type[2] != 0};
      case spv::kTypePointer: {
        if (type[1] != spv::kFunctionClass || type[2] == id) return std::nullopt;
        const auto pointee = types_.find(type[2]);
        if (pointee == types_.end() || pointee->second[0] == spv::kTypePointer) return std::nullopt;
        std::optional<LibraryValue> inner = value(type[2]);
        if (inner) inner->by_pointer = true;
        return inner;
      }
      default: return std::nullopt;
    }
  }

  Words words_;
  uint32_t function_ = 0;
  std::map<uint32_t, uint32_t> functions_;           // To their types.
  std::map<uint32_t, std::vector<uint32_t>> types_;  // The opcode, then what follows the id.
};

// GLSL's own names: "scale(f1;f1;" is `scale`. What is not in a library is not exported.
std::string export_all(Reader& reader) {
  std::set<std::string> taken;
  for (const auto& [id, mangled] : reader.names) {
    const size_t end = mangled.find('(');
    if (end == mangled.npos || mangled.substr(0, end) == kMain) continue;
    const std::string name = mangled.substr(0, end);
    if (!taken.insert(name).second) return "it has several functions '" + name + "'";
    reader.exported[id] = name;
  }
  return {};
}

void append(std::vector<uint32_t>& words, uint32_t op, Words operands) {
  words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  words.insert(words.end(), operands.begin(), operands.end());
}

void append_exports(std::vector<uint32_t>& words, const std::map<uint32_t, std::string>& exported) {
  for (const auto& [id, name] : exported) {
    std::vector<uint32_t> operands = {id, spv::kLinkageAttributes};
    operands.resize(2 + name.size() / 4 + 1, 0);
    std::memcpy(operands.data() + 2, name.data(), name.size());
    operands.push_back(spv::kExport);
    append(words, spv::kDecorate, operands);
  }
}

// Stands before decorations.
bool is_preamble(uint32_t op) {
  constexpr uint32_t kModuleProcessed = 330;
  return op < spv::kMemoryModel || op == spv::kMemoryModel || op == spv::kCapability || op == kModuleProcessed;
}

// Without entry points and what is theirs, with linkage.
std::vector<uint32_t> as_library(Words words, const Reader& reader) {
  constexpr uint32_t kSource = 3, kSourceExtension = 4;
  std::vector<uint32_t> made(words.begin(), words.begin() + spv::kHeaderWords);
  made[1] = kVersion;
  append(made, spv::kCapability, {spv::kLinkage});
  append(made, spv::kCapability, {spv::kPhysicalAddresses});
  bool before_exports = true;
  for (size_t at = spv::kHeaderWords; at < words.size();) {
    const Words each = words.slice(at, words[at] >> 16);
    at += each.size();
    const uint32_t op = each[0] & 0xffff;
    const bool is_linkage = op == spv::kDecorate && each.size() > 2 && each[2] == spv::kLinkageAttributes;
    const bool is_ours =
        op == spv::kCapability && each.size() > 1 && (each[1] == spv::kLinkage || each[1] == spv::kPhysicalAddresses);
    const bool is_entry = op == spv::kEntryPoint || op == spv::kExecutionMode || op == spv::kExecutionModeId;
    if (is_linkage || is_ours || is_entry || op == kSource || op == kSourceExtension) continue;
    if (before_exports && !is_preamble(op)) append_exports(made, reader.exported);
    before_exports = before_exports && is_preamble(op);
    made.insert(made.end(), each.begin(), each.end());
  }
  return made;
}

}  // namespace

bool LibraryValue::takes(mlir::Type type) const {
  if (kind == Kind::kBool) return type.isInteger(1);
  if (kind == Kind::kFloat) return width == 32 ? type.isF32() : type.isF64();
  if (kind == Kind::kNone) return llvm::isa<mlir::LLVM::LLVMVoidType>(type);
  if (const auto pointer = llvm::dyn_cast<mlir::LLVM::LLVMPointerType>(type)) {
    constexpr unsigned kSharedSpace = 3;
    return width == 64 && pointer.getAddressSpace() != kSharedSpace;
  }
  return type.isInteger(width);
}

std::string LibraryValue::text() const {
  if (kind == Kind::kNone) return "void";
  if (kind == Kind::kBool) return "bool";
  return (kind == Kind::kFloat ? "float" : is_signed ? "int" : "uint") + std::to_string(width);
}

std::string LibraryFunction::text() const {
  std::string text = name + "(";
  for (const LibraryValue& each : parameters) text += (text.back() == '(' ? "" : ", ") + each.text();
  return text + ") -> " + result.text();
}

bool is_library(llvm::StringRef path) {
  return path.ends_with(".spv") || path.ends_with(".glsl") || path.ends_with(".comp");
}

FailureOr<SpirvLibrary> read_library(const LoadedObject& object) {
  const auto refuse = [&](const std::string& problem) {
    return mlir::emitError(object.location, "The object '") << object.path << "' is no library: " << problem << ".";
  };
  const bool is_source = !llvm::StringRef(object.path).ends_with(".spv");
  std::vector<uint32_t> words;
  if (is_source) {
    std::string problem;
    words = compile_glsl(object.bytes->getBuffer(), object.path, problem);
    if (!problem.empty()) return refuse(problem);
  } else {
    words.resize(object.bytes->getBufferSize() / 4);
    if (!words.empty()) std::memcpy(words.data(), object.bytes->getBufferStart(), words.size() * 4);
  }
  Reader reader(words);
  std::string problem = reader.read();
  if (problem.empty() && is_source) problem = export_all(reader);
  if (problem.empty() && reader.exported.empty()) problem = "it exports no function (Linkage)";
  if (!problem.empty()) return refuse(problem);
  SpirvLibrary library{object.path, as_library(words, reader), {}, reader.orders_memory};
  for (const auto& [id, name] : reader.exported) library.functions.push_back(reader.describe(id, name));
  return library;
}

std::vector<uint32_t> with_memory_model(const SpirvLibrary& library, bool orders_memory) {
  std::vector<uint32_t> words = library.words;
  for (size_t at = spv::kHeaderWords; at < words.size(); at += words[at] >> 16) {
    if ((words[at] & 0xffff) != spv::kMemoryModel) continue;
    words[at + 1] = kAddressing;
    words[at + 2] = orders_memory ? kVulkanModel : kGlsl450Model;
  }
  return words;
}

}  // namespace baton::compiler_lite::codegen::vulkan
