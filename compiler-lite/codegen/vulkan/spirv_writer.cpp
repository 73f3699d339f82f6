#include "compiler-lite/codegen/vulkan/spirv_writer.hpp"

#include <cstring>

namespace baton::compiler_lite::codegen::vulkan {
namespace {

constexpr uint32_t kVersion = 0x00010500;
constexpr uint32_t kAddressing = 5348, kVulkanModel = 3, kGlsl450Model = 1;
constexpr llvm::StringLiteral kGlslName = "GLSL.std.450";

}  // namespace

void SpirvWriter::append(Words& words, spv::Op op, llvm::ArrayRef<uint32_t> operands) {
  words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  words.insert(words.end(), operands.begin(), operands.end());
}

void SpirvWriter::append_text(llvm::SmallVectorImpl<uint32_t>& words, llvm::StringRef text) {
  const size_t first = words.size();
  words.resize(first + text.size() / 4 + 1, 0);
  std::memcpy(words.data() + first, text.data(), text.size());
}

Id SpirvWriter::type(spv::Op op, llvm::ArrayRef<uint32_t> operands) {
  Words key = {op};
  key.insert(key.end(), operands.begin(), operands.end());
  const auto [at, is_new] = declared_.try_emplace(std::move(key), 0);
  if (!is_new) return at->second;
  at->second = new_id();
  llvm::SmallVector<uint32_t> words = {at->second};
  words.append(operands.begin(), operands.end());
  append(declarations_, op, words);
  return at->second;
}

Id SpirvWriter::constant(spv::Op op, Id of_type, llvm::ArrayRef<uint32_t> operands) {
  Words key = {op, of_type};
  key.insert(key.end(), operands.begin(), operands.end());
  const auto [at, is_new] = declared_.try_emplace(std::move(key), 0);
  if (!is_new) return at->second;
  at->second = new_id();
  llvm::SmallVector<uint32_t> words = {of_type, at->second};
  words.append(operands.begin(), operands.end());
  append(declarations_, op, words);
  return at->second;
}

Id SpirvWriter::int_type(unsigned width) {
  if (width == 8) need(spv::kStorageBuffer8Bit);
  if (width == 16) need(spv::kStorageBuffer16Bit);
  return type(spv::kTypeInt, {width, 0});
}

Id SpirvWriter::float_type(unsigned width) {
  if (width == 16) need(spv::kStorageBuffer16Bit);
  if (width == 64) need(spv::kFloat64);
  return type(spv::kTypeFloat, {width});
}

Id SpirvWriter::array_type(Id element, uint32_t count) { return type(spv::kTypeArray, {element, number(count)}); }

Id SpirvWriter::number64(uint64_t value) {
  return constant(spv::kConstant, int_type(64), {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)});
}

Id SpirvWriter::float_number(unsigned width, uint64_t bits) {
  const auto low = static_cast<uint32_t>(bits), high = static_cast<uint32_t>(bits >> 32);
  if (width == 32) return constant(spv::kConstant, float_type(32), {low});
  return constant(spv::kConstant, float_type(64), {low, high});
}

Id SpirvWriter::variable(spv::StorageClass storage, Id pointee, Id initial) {
  const Id pointer = pointer_type(storage, pointee), made = new_id();
  llvm::SmallVector<uint32_t> words = {pointer, made, storage};
  if (initial != 0) words.push_back(initial);
  append(declarations_, spv::kVariable, words);
  return made;
}

Id SpirvWriter::built_in(spv::BuiltIn which, bool is_scalar) {
  Id& made = built_ins_[which];
  if (made != 0) return made;
  made = variable(spv::kInput, is_scalar ? int_type(32) : vector_type(int_type(32), 3));
  decorate(made, spv::kBuiltIn, {which});
  return made;
}

Id SpirvWriter::record_variable() {
  if (record_ != 0) return record_;
  const Id block = type(spv::kTypeStruct, {int_type(64)});
  decorate(block, spv::kBlock);
  decorate_member(block, 0, spv::kOffset, {0});
  return record_ = variable(spv::kPushConstant, block);
}

void SpirvWriter::decorate(Id id, spv::Decoration decoration, llvm::ArrayRef<uint32_t> operands) {
  llvm::SmallVector<uint32_t> words = {id, decoration};
  words.append(operands.begin(), operands.end());
  append(decorations_, spv::kDecorate, words);
}

void SpirvWriter::decorate_member(Id id, uint32_t member, spv::Decoration decoration,
                                  llvm::ArrayRef<uint32_t> operands) {
  llvm::SmallVector<uint32_t> words = {id, member, decoration};
  words.append(operands.begin(), operands.end());
  append(decorations_, spv::kMemberDecorate, words);
}

void SpirvWriter::entry_point(Id function, llvm::StringRef name, llvm::ArrayRef<Id> variables,
                              const unsigned (&sizes)[3]) {
  llvm::SmallVector<uint32_t> words = {spv::kGlCompute, function};
  append_text(words, name);
  words.append(variables.begin(), variables.end());
  append(entry_points_, spv::kEntryPoint, words);
  append(modes_, spv::kExecutionMode, {function, spv::kModeLocalSize, sizes[0], sizes[1], sizes[2]});
}

void SpirvWriter::note(llvm::StringRef text) {
  llvm::SmallVector<uint32_t> words;
  append_text(words, text);
  append(notes_, spv::kModuleProcessed, words);
}

void SpirvWriter::import(Id function, llvm::StringRef name) {
  need(spv::kLinkage);
  llvm::SmallVector<uint32_t> words = {function, spv::kLinkageAttributes};
  append_text(words, name);
  words.push_back(spv::kImport);
  append(decorations_, spv::kDecorate, words);
}

Id SpirvWriter::glsl_set() {
  if (glsl_ == 0) glsl_ = new_id();
  return glsl_;
}

Id SpirvWriter::op(spv::Op op, Id of_type, llvm::ArrayRef<uint32_t> operands) {
  const Id made = new_id();
  llvm::SmallVector<uint32_t> words = {of_type, made};
  words.append(operands.begin(), operands.end());
  append(functions_, op, words);
  return made;
}

Id SpirvWriter::glsl(spv::Glsl which, Id of_type, llvm::ArrayRef<uint32_t> operands) {
  llvm::SmallVector<uint32_t> words = {glsl_set(), which};
  words.append(operands.begin(), operands.end());
  return op(spv::kExtInst, of_type, words);
}

std::vector<char> SpirvWriter::bytes() const {
  Words words = {spv::kMagic, kVersion, 0, bound_, 0};
  for (const uint32_t capability : capabilities_) append(words, spv::kCapability, {capability});
  if (glsl_ != 0) {
    llvm::SmallVector<uint32_t> import = {glsl_};
    append_text(import, kGlslName);
    append(words, spv::kExtInstImport, import);
  }
  const bool orders = capabilities_.count(spv::kVulkanMemoryModel) != 0;
  append(words, spv::kMemoryModel, {kAddressing, orders ? kVulkanModel : kGlsl450Model});
  for (const Words* section : {&entry_points_, &modes_, &notes_, &decorations_, &declarations_, &functions_}) {
    words.insert(words.end(), section->begin(), section->end());
  }
  std::vector<char> bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

}  // namespace baton::compiler_lite::codegen::vulkan
