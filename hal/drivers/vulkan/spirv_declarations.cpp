#include "hal/drivers/vulkan/spirv_declarations.hpp"

#include <algorithm>

namespace baton::hal::drivers::vulkan {
namespace {

using namespace spirv;

// Types inside types; more is a cycle.
constexpr int kDepthMax = 64;
constexpr uint64_t kBytesMax = uint64_t{1} << 40;

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

Status SpirvDeclarations::decorate(const SpirvInstruction& instruction) {
  if (instruction.size() < 3) return bad_spirv(instruction.at, "a decoration lacks words");
  const uint32_t target = instruction[1];
  BATON_TRY(check_id(instruction, target));
  if (instruction.op == kDecorate) {
    const uint32_t value = instruction.size() > 3 ? instruction[3] : 0;
    const bool valued = instruction[2] == kSpecId || instruction[2] == kArrayStride || instruction[2] == kBuiltIn ||
                        instruction[2] == kBinding || instruction[2] == kDescriptorSet;
    if (valued && instruction.size() < 4) return bad_spirv(instruction.at, "a decoration lacks its value");
    decorations_[{target, instruction[2]}] = value;
    if (instruction[2] == kBuiltIn && value == kWorkgroupSize) {
      if (workgroup_size_ != 0 && workgroup_size_ != target) {
        return bad_spirv(instruction.at, "a second workgroup size for all entry points");
      }
      workgroup_size_ = target;
    }
    return {};
  }
  if (instruction.size() < 4) return bad_spirv(instruction.at, "a decoration lacks words");
  if (instruction[3] != kOffset && instruction[3] != kMatrixStride) return {};
  if (instruction.size() < 5) return bad_spirv(instruction.at, "a decoration lacks its value");
  (instruction[3] == kOffset ? member_offsets_ : matrix_strides_)[{target, instruction[2]}] = instruction[4];
  return {};
}

Status SpirvDeclarations::add(const SpirvInstruction& instruction) {
  switch (instruction.op) {
    case kDecorate:
    case kMemberDecorate: return decorate(instruction);
    case kTypeInt:
    case kTypeFloat: return declare(instruction, 1, 3);
    case kTypeVector:
    case kTypeMatrix:
    case kTypeArray:
    case kTypePointer: return declare(instruction, 1, 4);
    case kTypeRuntimeArray: return declare(instruction, 1, 3);
    case kTypeStruct: return declare(instruction, 1, 2);
    case kConstant:
    case kSpecConstant: return declare(instruction, 2, 4);
    case kConstantComposite:
    case kSpecConstantComposite:
    case kSpecConstantTrue:
    case kSpecConstantFalse: return declare(instruction, 2, 3);
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

Result<uint64_t> SpirvDeclarations::integer(uint32_t constant) const {
  const SpirvInstruction* made = declared(constant);
  if (!made || (made->op != kConstant && made->op != kSpecConstant)) {
    return failure(StatusCode::kInvalidArgument, "The SPIR-V names id ", constant, " where a constant must stand.");
  }
  if (made->op == kSpecConstant) {
    const uint32_t* id = decoration(constant, kSpecId);
    if (id && *id < specialization_.size()) return uint64_t{specialization_[*id]};
  }
  return made->size() > 4 ? (uint64_t{(*made)[4]} << 32 | (*made)[3]) : uint64_t{(*made)[3]};
}

Status SpirvDeclarations::read_workgroup_size(uint32_t (&size)[3]) const {
  const SpirvInstruction* made = declared(workgroup_size_);
  if (!made || made->size() != 6) {
    return failure(StatusCode::kInvalidArgument, "The SPIR-V's workgroup size is no constant of three numbers.");
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    BATON_TRY_ASSIGN(const uint64_t threads, integer((*made)[3 + axis]));
    size[axis] = static_cast<uint32_t>(std::min<uint64_t>(threads, ~uint32_t{0}));
  }
  return {};
}

Result<uint64_t> SpirvDeclarations::type_bytes(uint32_t type) const { return type_bytes(type, 0); }

Result<uint64_t> SpirvDeclarations::struct_bytes(const SpirvInstruction& made, int depth) const {
  uint64_t bytes = 0;
  for (uint32_t member = 0; member + 2 < made.size(); ++member) {
    BATON_TRY_ASSIGN(uint64_t length, type_bytes(made[2 + member], depth));
    const auto offset = member_offsets_.find({made[1], member});
    const auto stride = matrix_strides_.find({made[1], member});
    const SpirvInstruction* inner = declared(made[2 + member]);
    if (stride != matrix_strides_.end() && inner && inner->op == kTypeMatrix) {
      length = uint64_t{stride->second} * (*inner)[3];
    }
    const uint64_t start = offset == member_offsets_.end() ? bytes : offset->second;
    bytes = std::max(bytes, start + length);
  }
  return bytes;
}

Result<uint64_t> SpirvDeclarations::type_bytes(uint32_t type, int depth) const {
  const SpirvInstruction* made = declared(type);
  if (depth > kDepthMax || !made) {
    return failure(StatusCode::kInvalidArgument, "The SPIR-V's type ", type, " has no size.");
  }
  switch (made->op) {
    case kTypeInt:
    case kTypeFloat: return uint64_t{(*made)[2]} / 8;
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
    case kTypeArray: {
      BATON_TRY_ASSIGN(uint64_t element, type_bytes((*made)[2], depth + 1));
      if (const uint32_t* stride = decoration(type, kArrayStride)) element = *stride;
      uint64_t count = (*made)[3];
      if (made->op == kTypeArray) {
        BATON_TRY_ASSIGN(count, integer((*made)[3]));
      }
      if (element != 0 && count > kBytesMax / element) break;
      return element * count;
    }
    default: break;
  }
  return failure(StatusCode::kInvalidArgument, "The SPIR-V's type ", type, " has no size, or too large a one.");
}

std::vector<uint32_t> SpirvDeclarations::specialized() const {
  std::vector<uint32_t> ids;
  for (const auto& [key, value] : decorations_) {
    if (key.second == kSpecId) ids.push_back(value);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace baton::hal::drivers::vulkan
