#include "hal/drivers/vulkan/spirv_declarations.hpp"

#include <algorithm>

namespace baton::hal::drivers::vulkan {
namespace {

using namespace spirv;

// Types inside types; more is a cycle.
constexpr int kDepthMax = 64;
constexpr uint32_t kRowMajor = 4;

constexpr bool has_value(uint32_t decoration) {
  return decoration == kSpecId || decoration == kArrayStride || decoration == kMatrixStride || decoration == kBuiltIn ||
         decoration == kBinding || decoration == kDescriptorSet || decoration == kOffset;
}

// Nothing above kBytesMax: no product wraps around.
uint64_t times(uint64_t count, uint64_t bytes) {
  constexpr uint64_t kMax = SpirvDeclarations::kBytesMax;
  return bytes != 0 && count > kMax / bytes ? kMax + 1 : count * bytes;
}

Status no_size(uint32_t type) {
  return failure(StatusCode::kInvalidArgument, "The SPIR-V's type ", type, " has no size, or too large a one.");
}

}  // namespace

Status SpirvDeclarations::check_id(const SpirvInstruction& by, uint32_t id) const {
  if (id != 0 && id < bound_) return {};
  return bad_spirv(by.at, text("id ", id, " is not below the bound (", bound_, ")"));
}

Status SpirvDeclarations::check_new(const SpirvInstruction& by, uint32_t id) {
  BATON_TRY(check_id(by, id));
  if (defined_.size() <= id) defined_.resize(bound_);
  if (defined_[id]) return bad_spirv(by.at, text("id ", id, " is defined twice"));
  defined_[id] = true;
  return {};
}

Status SpirvDeclarations::declare(const SpirvInstruction& instruction, size_t result, size_t words_min) {
  if (instruction.size() < words_min) return bad_spirv(instruction.at, "an instruction lacks words");
  BATON_TRY(check_new(instruction, instruction[result]));
  declared_.emplace(instruction[result], instruction);
  return {};
}

// What a target's decoration means, whichever instruction says it. The first of two values would be one driver's choice,
// the second another's.
Status SpirvDeclarations::note(const SpirvInstruction& by, uint32_t target, uint32_t decoration, uint32_t value) {
  BATON_TRY(check_id(by, target));
  if (target < defined_.size() && defined_[target]) {
    return bad_spirv(by.at, text("id ", target, " is decorated after it is defined"));
  }
  const auto [known, is_new] = decorations_.try_emplace({target, decoration}, value);
  if (!is_new && has_value(decoration) && known->second != value) {
    return bad_spirv(by.at, text("id ", target, " has two values of decoration ", decoration));
  }
  if (decoration != kBuiltIn || value != kWorkgroupSize) return {};
  if (workgroup_size_ != 0 && workgroup_size_ != target) {
    return bad_spirv(by.at, "a second workgroup size for all entry points");
  }
  workgroup_size_ = target;
  return {};
}

Status SpirvDeclarations::note_member(const SpirvInstruction& by, const Member& member, uint32_t decoration,
                                      uint32_t value) {
  BATON_TRY(check_id(by, member.type));
  if (declared(member.type)) {
    return bad_spirv(by.at, text("a member of id ", member.type, " is decorated after it is defined"));
  }
  if (decoration == kRowMajor) matrices_[member].row_major = true;
  bool is_one = true;
  if (decoration == kMatrixStride) {
    uint32_t& stride = matrices_[member].stride;
    is_one = stride == 0 || stride == value;
    stride = value;
  }
  if (decoration == kOffset) is_one = member_offsets_.try_emplace(member, value).first->second == value;
  if (is_one) return {};
  return bad_spirv(
      by.at, text("member ", member.member, " of id ", member.type, " has two values of decoration ", decoration));
}

Status SpirvDeclarations::decorate(const SpirvInstruction& instruction) {
  const size_t kind = instruction.op == kDecorate ? 2 : 3;  // Where it stands.
  if (instruction.size() <= kind) return bad_spirv(instruction.at, "a decoration lacks words");
  const uint32_t decoration = instruction[kind];
  if (has_value(decoration) && instruction.size() <= kind + 1) {
    return bad_spirv(instruction.at, "a decoration lacks its value");
  }
  const uint32_t value = instruction.size() > kind + 1 ? instruction[kind + 1] : 0;
  if (instruction.op == kDecorate) return note(instruction, instruction[1], decoration, value);
  return note_member(instruction, {instruction[1], instruction[2]}, decoration, value);
}

// What old compilers write: decorations of one id that stand for those of many. Each target takes at most as many as
// there are kinds of interest.
Status SpirvDeclarations::decorate_group(const SpirvInstruction& instruction) {
  if (instruction.size() < 2) return bad_spirv(instruction.at, "an instruction lacks words");
  BATON_TRY(check_id(instruction, instruction[1]));
  const bool of_members = instruction.op == kGroupMemberDecorate;
  if (of_members && instruction.size() % 2 != 0) return bad_spirv(instruction.at, "a decoration lacks words");
  constexpr uint32_t kKinds[] = {kSpecId,  kBlock,   kBufferBlock,   kArrayStride, kMatrixStride,
                                 kBuiltIn, kBinding, kDescriptorSet, kOffset,      kRowMajor};
  std::vector<std::pair<uint32_t, uint32_t>> shared;  // {decoration, value}.
  for (const uint32_t kind : kKinds) {
    if (const uint32_t* value = decoration(instruction[1], kind)) shared.emplace_back(kind, *value);
  }
  for (size_t word = 2; word < instruction.size(); word += of_members ? 2 : 1) {
    const uint32_t target = instruction[word];
    BATON_TRY(check_id(instruction, target));
    for (const auto& [kind, value] : shared) {
      BATON_TRY(of_members ? note_member(instruction, {target, instruction[word + 1]}, kind, value)
                           : note(instruction, target, kind, value));
    }
  }
  return {};
}

Status SpirvDeclarations::add(const SpirvInstruction& instruction) {
  switch (instruction.op) {
    case kDecorate:
    case kMemberDecorate: return decorate(instruction);
    case kDecorationGroup:
      if (instruction.size() < 2) return bad_spirv(instruction.at, "an instruction lacks words");
      return check_new(instruction, instruction[1]);
    case kGroupDecorate:
    case kGroupMemberDecorate: return decorate_group(instruction);
    case kTypeBool: return declare(instruction, 1, 2);
    case kTypeInt:
    case kTypeFloat: return declare(instruction, 1, 3);
    case kTypeVector:
    case kTypeMatrix:
    case kTypeArray:
    case kTypePointer: return declare(instruction, 1, 4);
    case kTypeRuntimeArray: return declare(instruction, 1, 3);
    case kTypeStruct: return declare(instruction, 1, 2);
    case kConstant:
    case kSpecConstant: BATON_TRY(declare(instruction, 2, 4)); return note_constant(instruction), Status();
    case kConstantTrue:
    case kConstantFalse:
    case kSpecConstantTrue:
    case kSpecConstantFalse:
    case kConstantNull: BATON_TRY(declare(instruction, 2, 3)); return note_constant(instruction), Status();
    case kConstantComposite:
    case kSpecConstantComposite: BATON_TRY(declare(instruction, 2, 3)); return note_composite(instruction), Status();
    case kSpecConstantOp: BATON_TRY(declare(instruction, 2, 4)); return note_made(instruction), Status();
    case kVariable: {
      if (instruction.size() < 4) return bad_spirv(instruction.at, "a variable lacks words");
      BATON_TRY(check_id(instruction, instruction[1]));
      BATON_TRY(check_new(instruction, instruction[2]));
      variables_[instruction[2]] = {instruction[1], instruction[3]};
      return {};
    }
    default: return {};
  }
}

const SpirvInstruction* SpirvDeclarations::declared(uint32_t id) const {
  const auto found = declared_.find(id);
  return found == declared_.end() ? nullptr : &found->second;
}

const uint32_t* SpirvDeclarations::decoration(uint32_t id, uint32_t decoration) const {
  const auto found = decorations_.find({id, decoration});
  return found == decorations_.end() ? nullptr : &found->second;
}

Result<uint32_t> SpirvDeclarations::pointee(uint32_t pointer) const {
  const SpirvInstruction* made = declared(pointer);
  if (made && made->op == kTypePointer) return (*made)[3];
  return failure(StatusCode::kInvalidArgument, "The SPIR-V has a variable whose type, id ", pointer,
                 ", is no pointer.");
}

// The bits of a number or a bool, or of the parts of a vector; 0: it is none.
uint32_t SpirvDeclarations::scalar_width(uint32_t type) const {
  const SpirvInstruction* made = declared(type);
  if (made && made->op == kTypeVector) made = declared((*made)[2]);
  if (made && made->op == kTypeBool) return 1;
  const bool is_number = made && (made->op == kTypeInt || made->op == kTypeFloat);
  return is_number && (*made)[2] >= 1 && (*made)[2] <= 64 ? (*made)[2] : 0;
}

void SpirvDeclarations::note_constant(const SpirvInstruction& instruction) {
  SpirvValue value{.width = scalar_width(instruction[1])};
  if (value.width == 0) return;
  const SpirvInstruction& type = *declared(instruction[1]);
  if (type.op == kTypeVector) {  // Of zeros.
    if (type[3] > SpirvValue::kPartsMax) return;
    value.count = type[3];
  }
  uint64_t& bits = value.parts[0];
  if (instruction.op == kConstantTrue || instruction.op == kSpecConstantTrue) bits = 1;
  if (instruction.size() > 3) bits = instruction[3];
  if (instruction.size() > 4) bits |= uint64_t{instruction[4]} << 32;
  const uint32_t* id = instruction.op >= kSpecConstantTrue ? decoration(instruction[2], kSpecId) : nullptr;
  if (id && *id < specialization_.size()) {
    bits = specialization_[*id];
    if (value.width == 1) bits = bits != 0;
    if (value.width > 32 && *id + 1 < specialization_.size()) bits |= uint64_t{specialization_[*id + 1]} << 32;
  }
  bits = spirv_bits(bits, value.width);
  values_[instruction[2]] = value;
}

void SpirvDeclarations::note_composite(const SpirvInstruction& instruction) {
  const SpirvInstruction* type = declared(instruction[1]);
  SpirvValue value{.width = scalar_width(instruction[1])};
  if (value.width == 0 || type->op != kTypeVector || instruction.size() > 3 + SpirvValue::kPartsMax) return;
  value.count = static_cast<uint32_t>(instruction.size()) - 3;
  for (uint32_t i = 0; i < value.count; ++i) {
    const auto part = values_.find(instruction[3 + i]);
    if (part == values_.end() || part->second.count != 1) return;
    value.parts[i] = part->second.parts[0];
  }
  values_[instruction[2]] = value;
}

// What the code computes from other constants; without a value where that is not known.
void SpirvDeclarations::note_made(const SpirvInstruction& instruction) {
  const uint32_t op = instruction[3];
  size_t ids = instruction.size() - 4;
  if (op == kCompositeExtract) ids = std::min<size_t>(ids, 1);
  if (op == kCompositeInsert || op == kVectorShuffle) ids = std::min<size_t>(ids, 2);
  SpirvValue operands[3];
  if (ids > std::size(operands)) return;
  for (size_t i = 0; i < ids; ++i) {
    const auto operand = values_.find(instruction[4 + i]);
    if (operand == values_.end()) return;
    operands[i] = operand->second;
  }
  const std::optional<SpirvValue> made = spirv_evaluate(
      op, scalar_width(instruction[1]), std::span(operands).first(ids), instruction.words.subspan(4 + ids));
  if (made) values_[instruction[2]] = *made;
}

Result<uint64_t> SpirvDeclarations::integer(uint32_t constant) const {
  const auto value = values_.find(constant);
  if (value != values_.end() && value->second.count == 1) return value->second.parts[0];
  return failure(StatusCode::kInvalidArgument, "The SPIR-V names id ", constant, " where a constant must stand.");
}

Status SpirvDeclarations::read_workgroup_size(uint32_t (&size)[3]) const {
  const auto value = values_.find(workgroup_size_);
  if (value == values_.end() || value->second.count != 3) {
    return failure(StatusCode::kInvalidArgument, "The SPIR-V's workgroup size is no constant of three numbers.");
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    size[axis] = static_cast<uint32_t>(std::min<uint64_t>(value->second.parts[axis], ~uint32_t{0}));
  }
  return {};
}

Result<uint64_t> SpirvDeclarations::type_bytes(uint32_t type) const { return type_bytes(type, {}, 0); }

Result<uint64_t> SpirvDeclarations::struct_bytes(const SpirvInstruction& made, int depth) const {
  uint64_t bytes = 0;
  for (uint32_t member = 0; member + 2 < made.size(); ++member) {
    BATON_TRY_ASSIGN(const uint64_t length, member_bytes(made, member, depth));
    const auto offset = member_offsets_.find({made[1], member});
    const uint64_t start = offset == member_offsets_.end() ? bytes : offset->second;
    bytes = std::max(bytes, start + length);
    if (bytes > kBytesMax) return no_size(made[1]);
  }
  return bytes;
}

Result<uint64_t> SpirvDeclarations::member_bytes(const SpirvInstruction& made, uint32_t member, int depth) const {
  const auto rows = matrices_.find({made[1], member});
  return type_bytes(made[2 + member], rows == matrices_.end() ? Rows() : rows->second, depth);
}

Result<std::vector<SpirvMember>> SpirvDeclarations::members(uint32_t type) const {
  std::vector<SpirvMember> all;
  const SpirvInstruction* made = declared(type);
  if (!made || made->op != kTypeStruct) return all;
  for (uint32_t member = 0; member + 2 < made->size(); ++member) {
    BATON_TRY_ASSIGN(const uint64_t bytes, member_bytes(*made, member, 1));
    const auto offset = member_offsets_.find({type, member});
    const uint64_t place = offset == member_offsets_.end() ? 0 : offset->second;
    const SpirvInstruction* member_type = declared((*made)[2 + member]);
    all.push_back({static_cast<uint32_t>(place), static_cast<uint32_t>(bytes), member_type->op == kTypePointer});
  }
  std::sort(all.begin(), all.end(), [](const SpirvMember& a, const SpirvMember& b) { return a.place < b.place; });
  return all;
}

uint32_t SpirvDeclarations::open_stride(uint32_t type) const {
  const SpirvInstruction* made = declared(type);
  if (!made || made->op != kTypeStruct || made->size() < 3) return 0;
  const SpirvInstruction* last = declared((*made)[made->size() - 1]);
  const uint32_t* stride = last && last->op == kTypeRuntimeArray ? decoration((*last)[1], kArrayStride) : nullptr;
  return stride ? *stride : 0;
}

// Of what holds several of one: an array, a vector, a matrix.
Result<uint64_t> SpirvDeclarations::array_bytes(const SpirvInstruction& made, const Rows& rows, int depth) const {
  BATON_TRY_ASSIGN(uint64_t element, type_bytes(made[2], rows, depth));
  uint64_t count = made[3];
  if (made.op == kTypeArray) {
    BATON_TRY_ASSIGN(count, integer(made[3]));
    if (const uint32_t* stride = decoration(made[1], kArrayStride)) element = *stride;
  }
  if (made.op == kTypeMatrix && rows.stride != 0) {
    element = rows.stride;
    const SpirvInstruction* column = declared(made[2]);
    if (rows.row_major && column && column->op == kTypeVector) count = (*column)[3];
  }
  const uint64_t bytes = times(count, element);
  if (bytes > kBytesMax) return no_size(made[1]);
  return bytes;
}

Result<uint64_t> SpirvDeclarations::type_bytes(uint32_t type, const Rows& rows, int depth) const {
  const SpirvInstruction* made = declared(type);
  if (depth > kDepthMax || !made) return no_size(type);
  switch (made->op) {
    case kTypeInt:
    case kTypeFloat: return uint64_t{(*made)[2]} / 8;
    case kTypeBool: return uint64_t{4};
    case kTypePointer: return uint64_t{8};
    case kTypeStruct: {
      // Once each: types that hold the same ones again and again would take forever.
      const auto known = struct_bytes_.find(type);
      if (known != struct_bytes_.end()) return known->second;
      BATON_TRY_ASSIGN(const uint64_t bytes, struct_bytes(*made, depth + 1));
      struct_bytes_[type] = bytes;
      return bytes;
    }
    case kTypeRuntimeArray: return uint64_t{0};
    case kTypeVector:
    case kTypeMatrix:
    case kTypeArray: return array_bytes(*made, rows, depth + 1);
    default: return no_size(type);
  }
}

Result<std::vector<SpirvSpecialized>> SpirvDeclarations::specialized() const {
  std::map<uint32_t, uint32_t> bytes_by_id;
  for (const auto& [key, number] : decorations_) {
    const SpirvInstruction* made = key.second == kSpecId ? declared(key.first) : nullptr;
    if (!made || (made->op != kSpecConstant && made->op != kSpecConstantTrue && made->op != kSpecConstantFalse))
      continue;
    const uint32_t width = scalar_width((*made)[1]);
    const uint32_t bytes = width == 1 ? 4 : width / 8;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
      return failure(StatusCode::kInvalidArgument, "Specialization constant ", number, " is neither number nor bool.");
    }
    const auto [known, is_new] = bytes_by_id.try_emplace(number, bytes);
    if (!is_new && known->second != bytes) {
      return failure(StatusCode::kInvalidArgument, "Specialization constant ", number, " has ", known->second, " and ",
                     bytes, " bytes.");
    }
  }
  std::vector<SpirvSpecialized> all;
  for (const auto& [id, bytes] : bytes_by_id) all.push_back({id, bytes});
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [id, bytes] = all[i];
    if (bytes != 8 || id >= specialization_.size()) continue;
    const bool is_taken = i + 1 < all.size() && all[i + 1].id == id + 1;
    if (!is_taken && id + 1 < specialization_.size()) continue;
    return failure(StatusCode::kInvalidArgument, "Specialization constant ", id, " has 64 bits and takes two words, ",
                   id, " and ", id + 1,
                   is_taken ? text(", and the second one is another constant's.")
                            : text("; ", specialization_.size(), " words are given."));
  }
  return all;
}

}  // namespace baton::hal::drivers::vulkan
