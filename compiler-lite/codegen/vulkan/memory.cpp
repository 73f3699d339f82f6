// Loads, stores and addresses.
#include "compiler-lite/codegen/vulkan/function_writer.hpp"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::codegen::vulkan {

namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;
using mlir::LogicalResult;
using mlir::success;
using mlir::Type;
using mlir::Value;

namespace {

constexpr uint32_t kAligned = 0x2, kNonPrivate = 0x20;
constexpr uint32_t kWorkgroupScope = 2, kQueueFamilyScope = 5, kRelaxed = 0;
constexpr unsigned kSharedSpace = 3;
constexpr llvm::StringLiteral kSharedMemory = "baton_shared_memory";
constexpr uint32_t kSharedTag = 0xffffffff;  // The upper half of an offset in shared memory among addresses.

unsigned width_of(Type pointer) {
  return llvm::cast<LLVM::LLVMPointerType>(pointer).getAddressSpace() == kSharedSpace ? 32 : 64;
}

// Of a scalar in memory; 0: it has no place there.
unsigned bytes_of(Type scalar) {
  if (llvm::isa<LLVM::LLVMPointerType>(scalar)) return 8;
  if (!scalar.isIntOrFloat()) return 0;
  const unsigned width = scalar.getIntOrFloatBitWidth();
  return width == 1 ? 1 : width == 8 || width == 16 || width == 32 || width == 64 ? width / 8 : 0;
}

}  // namespace

uint64_t FunctionWriter::alignment_of(Type type) {
  if (auto members = llvm::dyn_cast<LLVM::LLVMStructType>(type)) {
    uint64_t most = 1;
    for (const Type member : members.getBody()) most = std::max(most, members.isPacked() ? 1 : alignment_of(member));
    return most;
  }
  if (auto array = llvm::dyn_cast<LLVM::LLVMArrayType>(type)) return alignment_of(array.getElementType());
  if (llvm::isa<mlir::VectorType, LLVM::LLVMFixedVectorType>(type)) return llvm::PowerOf2Ceil(size_of(type));
  if (llvm::isa<LLVM::LLVMPointerType>(type)) return 8;
  return type.isIntOrFloat() ? llvm::PowerOf2Ceil((type.getIntOrFloatBitWidth() + 7) / 8) : 1;
}

uint64_t FunctionWriter::size_of(Type type) {
  if (auto members = llvm::dyn_cast<LLVM::LLVMStructType>(type)) {
    uint64_t bytes = 0;
    for (const Type member : members.getBody()) {
      bytes = llvm::alignTo(bytes, members.isPacked() ? 1 : alignment_of(member)) + size_of(member);
    }
    return llvm::alignTo(bytes, alignment_of(type));
  }
  if (auto array = llvm::dyn_cast<LLVM::LLVMArrayType>(type))
    return array.getNumElements() * size_of(array.getElementType());
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(type)) {
    const unsigned width = vector.getElementTypeBitWidth();
    return llvm::PowerOf2Ceil((static_cast<uint64_t>(vector.getNumElements()) * width + 7) / 8);
  }
  return alignment_of(type);
}

// Everything that a pointer may come from: arguments, allocas, addresses; null when that cannot be determined.
void FunctionWriter::collect_roots(Value pointer, Roots& seen, llvm::SmallVectorImpl<Value>& roots) {
  if (!seen.insert(pointer.getAsOpaquePointer()).second) return;
  if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(pointer)) {
    auto loop = llvm::dyn_cast<scf::WhileOp>(argument.getOwner()->getParentOp());
    if (!loop) return roots.push_back(pointer);
    auto condition = llvm::cast<scf::ConditionOp>(loop.getBefore().front().getTerminator());
    collect_roots(loop.getInits()[argument.getArgNumber()], seen, roots);
    return collect_roots(condition.getArgs()[argument.getArgNumber()], seen, roots);
  }
  const unsigned number = llvm::cast<mlir::OpResult>(pointer).getResultNumber();
  mlir::Operation* op = pointer.getDefiningOp();
  if (llvm::isa<LLVM::AllocaOp, LLVM::AddressOfOp>(op)) return roots.push_back(pointer);
  if (llvm::isa<LLVM::PoisonOp, LLVM::UndefOp, mlir::ub::PoisonOp>(op)) return;
  if (llvm::isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp, LLVM::BitcastOp>(op)) {
    return collect_roots(op->getOperand(0), seen, roots);
  }
  if (auto select = llvm::dyn_cast<LLVM::SelectOp>(op)) {
    collect_roots(select.getTrueValue(), seen, roots);
    return collect_roots(select.getFalseValue(), seen, roots);
  }
  if (auto loop = llvm::dyn_cast<scf::WhileOp>(op)) {
    auto condition = llvm::cast<scf::ConditionOp>(loop.getBefore().front().getTerminator());
    return collect_roots(condition.getArgs()[number], seen, roots);
  }
  if (!llvm::isa<scf::IfOp, scf::IndexSwitchOp>(op)) return roots.push_back({});
  for (mlir::Region& region : op->getRegions()) {
    collect_roots(region.front().getTerminator()->getOperand(number), seen, roots);
  }
}

FunctionWriter::Place FunctionWriter::place_of_root(Value root) {
  if (auto alloca = root ? root.getDefiningOp<LLVM::AllocaOp>() : nullptr) {
    return {Space::kPrivate, private_variables_[root], false};
  }
  if (auto global = root ? root.getDefiningOp<LLVM::AddressOfOp>() : nullptr) {
    const auto type = llvm::cast<LLVM::LLVMPointerType>(root.getType());
    if (type.getAddressSpace() == kSharedSpace) return {Space::kShared, shared_words(), has_barriers_};
    return {Space::kPrivate, table_variables_[global.getGlobalName().str()], false};
  }
  return {Space::kBuffer, 0, has_barriers_ && (!root || shared_bindings_.contains(root))};
}

FunctionWriter::Place FunctionWriter::place_of(mlir::Operation* op, Value pointer) {
  const auto type = llvm::cast<LLVM::LLVMPointerType>(pointer.getType());
  if (type.getAddressSpace() == kSharedSpace) return {Space::kShared, shared_words(), has_barriers_};
  Roots seen;
  llvm::SmallVector<Value> roots;
  collect_roots(pointer, seen, roots);
  if (roots.empty()) return {};
  Place place = place_of_root(roots[0]);
  for (const Value root : llvm::drop_begin(roots)) {
    const Place other = place_of_root(root);
    const auto is_addressed = [](const Place& one) {
      return one.space == Space::kBuffer || one.space == Space::kShared;
    };
    if (other.space != place.space && is_addressed(place) && is_addressed(other)) {
      place.is_either = true;
    } else if (other.space != place.space || other.variable != place.variable) {
      (void)refuse(op, "nobody knows which memory a pointer points to");
    }
    place.shares = place.shares || other.shares;
  }
  return place;
}

// The pointer as its place takes it.
Id FunctionWriter::base_of(const Place& place, Value pointer) {
  const bool is_narrow = llvm::cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace() == kSharedSpace;
  return place.space == Space::kShared && !is_narrow ? resize(id(pointer), 64, 32) : id(pointer);
}

Id FunctionWriter::words_variable(spv::StorageClass storage, uint32_t count, Id initial) {
  const Id made =
      writer_.variable(storage, writer_.array_type(writer_.int_type(32), std::max<uint32_t>(count, 1)), initial);
  variables_.push_back(made);
  return made;
}

Id FunctionWriter::shared_words() {
  if (shared_ == 0) shared_ = words_variable(spv::kWorkgroup, (shape_.shared_bytes + 3) / 4);
  return shared_;
}

// base + offset, in the width of the base.
Id FunctionWriter::address(const Place& place, Id base, uint64_t offset) {
  if (offset == 0) return base;
  const unsigned width = place.space == Space::kShared ? 32 : 64;
  return binary(spv::kIAdd, width, base, number_of_width(width, offset));
}

Id FunctionWriter::word_pointer(const Place& place, Id offset) {
  const Id narrow = place.space == Space::kShared ? offset : resize(offset, 64, 32);
  const Id index = binary(spv::kShiftRightLogical, 32, narrow, writer_.number(2));
  const auto storage = place.space == Space::kShared ? spv::kWorkgroup : spv::kPrivate;
  return writer_.op(spv::kAccessChain, writer_.pointer_type(storage, writer_.int_type(32)), {place.variable, index});
}

Id FunctionWriter::load_word(const Place& place, Id offset) {
  const Id pointer = word_pointer(place, offset), u32 = writer_.int_type(32);
  return place.shares ? writer_.op(spv::kLoad, u32, {pointer, kNonPrivate}) : writer_.op(spv::kLoad, u32, {pointer});
}

Id FunctionWriter::load_buffer(const Place& place, Id type, Id address, uint64_t alignment) {
  const Id pointer =
      writer_.op(spv::kConvertUToPtr, writer_.pointer_type(spv::kPhysicalStorageBuffer, type), {address});
  return writer_.op(spv::kLoad, type,
                    {pointer, kAligned | (place.shares ? kNonPrivate : 0), static_cast<uint32_t>(alignment)});
}

void FunctionWriter::store_buffer(const Place& place, Id type, Id address, uint64_t alignment, Id value) {
  const Id pointer =
      writer_.op(spv::kConvertUToPtr, writer_.pointer_type(spv::kPhysicalStorageBuffer, type), {address});
  writer_.effect(spv::kStore,
                 {pointer, value, kAligned | (place.shares ? kNonPrivate : 0), static_cast<uint32_t>(alignment)});
}

// An integer of so many bytes, zeros above them.
Id FunctionWriter::load_bits(const Place& place, unsigned bytes, Id base, uint64_t offset, uint64_t alignment) {
  const bool buffer = place.space == Space::kBuffer;
  if (alignment < (buffer ? bytes : std::min(bytes, 4u))) {
    const unsigned half = bytes / 2;
    const Id low = load_bits(place, half, base, offset, std::min<uint64_t>(alignment, half));
    const Id high = load_bits(place, half, base, offset + half, std::min<uint64_t>(alignment, half));
    if (bytes == 8) return both_halves(low, high);
    return binary(spv::kBitwiseOr, 32, low, binary(spv::kShiftLeftLogical, 32, high, writer_.number(half * 8)));
  }
  const Id at = address(place, base, offset);
  if (buffer) {
    const Id loaded = load_buffer(place, writer_.int_type(bytes * 8), at, alignment);
    return bytes < 4 ? writer_.op(spv::kUConvert, writer_.int_type(32), {loaded}) : loaded;
  }
  if (bytes == 8) return both_halves(load_word(place, at), load_word(place, address(place, at, 4)));
  const Id word = load_word(place, at);
  if (bytes == 4) return word;
  return cut(binary(spv::kShiftRightLogical, 32, word, bit_shift(place, at)), bytes * 8);
}

// Where in its word a byte begins, in bits.
Id FunctionWriter::bit_shift(const Place& place, Id offset) {
  const Id narrow = place.space == Space::kShared ? offset : resize(offset, 64, 32);
  const Id in_word = binary(spv::kBitwiseAnd, 32, narrow, writer_.number(3));
  return binary(spv::kShiftLeftLogical, 32, in_word, writer_.number(3));
}

void FunctionWriter::store_word_part(const Place& place, Id offset, unsigned bytes, Id bits) {
  const Id u32 = writer_.int_type(32), shift = bit_shift(place, offset), pointer = word_pointer(place, offset);
  const Id mask = binary(spv::kShiftLeftLogical, 32, writer_.number((1u << (bytes * 8)) - 1), shift);
  const Id rest = writer_.op(spv::kNot, u32, {mask}), part = binary(spv::kShiftLeftLogical, 32, bits, shift);
  if (place.space == Space::kShared) {
    const Id scope = writer_.number(kWorkgroupScope), order = writer_.number(kRelaxed);
    writer_.op(spv::kAtomicAnd, u32, {pointer, scope, order, rest});
    writer_.op(spv::kAtomicOr, u32, {pointer, scope, order, part});
    return;
  }
  const Id kept = binary(spv::kBitwiseAnd, 32, writer_.op(spv::kLoad, u32, {pointer}), rest);
  writer_.effect(spv::kStore, {pointer, binary(spv::kBitwiseOr, 32, kept, part)});
}

void FunctionWriter::store_bits(const Place& place, unsigned bytes, Id base, uint64_t offset, uint64_t alignment,
                                Id bits) {
  const bool buffer = place.space == Space::kBuffer;
  if (alignment < (buffer ? bytes : std::min(bytes, 4u)) || (!buffer && bytes == 8)) {
    const unsigned half = bytes / 2, width = bytes == 8 ? 64 : 32;
    const Id high = binary(spv::kShiftRightLogical, width, bits, number_of_width(width, half * 8));
    const Id low = bytes == 8 ? resize(bits, 64, 32) : cut(bits, half * 8);
    store_bits(place, half, base, offset, std::min<uint64_t>(alignment, half), low);
    store_bits(place, half, base, offset + half, std::min<uint64_t>(alignment, half), resize(high, width, 32));
    return;
  }
  const Id at = address(place, base, offset);
  if (buffer) {
    const Id type = writer_.int_type(bytes * 8);
    store_buffer(place, type, at, alignment, bytes < 4 ? writer_.op(spv::kUConvert, type, {bits}) : bits);
  } else if (bytes < 4) {
    store_word_part(place, at, bytes, bits);
  } else {
    const Id pointer = word_pointer(place, at);
    place.shares ? writer_.effect(spv::kStore, {pointer, bits, kNonPrivate})
                 : writer_.effect(spv::kStore, {pointer, bits});
  }
}

// Floats go to buffers and come from there as what they are.
Id FunctionWriter::buffer_type(Type scalar) { return writer_.float_type(scalar.getIntOrFloatBitWidth()); }
bool FunctionWriter::moves_as_float(const Place& place, Type scalar, uint64_t alignment) {
  const bool is_float = scalar.isF16() || scalar.isF32() || scalar.isF64();
  return is_float && place.space == Space::kBuffer && alignment >= bytes_of(scalar);
}

Id FunctionWriter::load_scalar(const Place& place, Type type, Id base, uint64_t offset, uint64_t alignment) {
  if (!moves_as_float(place, type, alignment)) {
    return of_bits(type, load_bits(place, bytes_of(type), base, offset, std::min<uint64_t>(alignment, bytes_of(type))));
  }
  const Id loaded = load_buffer(place, buffer_type(type), address(place, base, offset), bytes_of(type));
  return type.isF16() ? writer_.op(spv::kFConvert, writer_.float_type(32), {loaded}) : loaded;
}

void FunctionWriter::store_scalar(const Place& place, Type type, Id base, uint64_t offset, uint64_t alignment,
                                  Id value) {
  if (!moves_as_float(place, type, alignment)) {
    const auto bytes = bytes_of(type);
    return store_bits(place, bytes, base, offset, std::min<uint64_t>(alignment, bytes), bits_of(type, value));
  }
  // Exact: an f16 holds it.
  if (type.isF16()) value = writer_.op(spv::kFConvert, writer_.float_type(16), {value});
  store_buffer(place, buffer_type(type), address(place, base, offset), bytes_of(type), value);
}

// How many words one access takes: what is smaller than a word comes in whole ones.
size_t FunctionWriter::run_length(const Place& place, Type scalar, size_t count, uint64_t alignment) {
  const unsigned bytes = bytes_of(scalar);
  if (place.space != Space::kBuffer || llvm::isa<LLVM::LLVMPointerType>(scalar)) return 1;
  for (const size_t run : {size_t{16}, size_t{8}, size_t{4}}) {
    const bool whole = bytes < 8 || run > 4;
    if (whole && count * bytes % run == 0 && alignment >= run && run > bytes) return run / bytes;
  }
  return 1;
}

// Elements that lie in `words` words of a buffer.
Ids FunctionWriter::load_run(const Place& place, Type scalar, Id at, size_t count) {
  const unsigned bytes = bytes_of(scalar);
  const size_t unit = std::max(bytes, 4u), units = count * bytes / unit;
  const bool is_whole = bytes >= 4 && !scalar.isInteger(1);
  const Id one = is_whole && llvm::isa<mlir::FloatType>(scalar) ? buffer_type(scalar)
                                                                : writer_.int_type(static_cast<unsigned>(unit * 8));
  Ids loaded, made;
  if (units == 1) {
    loaded.push_back(load_buffer(place, one, at, unit));
  } else {
    const Id vector = load_buffer(place, writer_.vector_type(one, static_cast<uint32_t>(units)), at, units * unit);
    for (uint32_t i = 0; i < units; ++i) loaded.push_back(writer_.op(spv::kCompositeExtract, one, {vector, i}));
  }
  if (is_whole) return loaded;
  for (size_t i = 0; i < count; ++i) {
    const auto shift = static_cast<uint32_t>(i * bytes % 4 * 8);
    const Id word = loaded[i * bytes / 4];
    if (scalar.isF16()) {
      const Id pair_type = writer_.vector_type(writer_.float_type(32), 2);
      const Id pair = writer_.glsl(spv::kUnpackHalf, pair_type, {word});
      made.push_back(writer_.op(spv::kCompositeExtract, writer_.float_type(32), {pair, shift / 16}));
      continue;
    }
    const Id moved = shift == 0 ? word : binary(spv::kShiftRightLogical, 32, word, writer_.number(shift));
    made.push_back(of_bits(scalar, cut(moved, bytes * 8)));
  }
  return made;
}

void FunctionWriter::store_run(const Place& place, Type scalar, Id at, llvm::ArrayRef<Id> values) {
  const unsigned bytes = bytes_of(scalar);
  const size_t unit = std::max(bytes, 4u), units = values.size() * bytes / unit;
  const bool is_whole = bytes >= 4 && !scalar.isInteger(1);
  const Id one = is_whole && llvm::isa<mlir::FloatType>(scalar) ? buffer_type(scalar)
                                                                : writer_.int_type(static_cast<unsigned>(unit * 8));
  Ids words(values.begin(), values.end());
  if (!is_whole) {
    words.clear();
    for (size_t i = 0; i < values.size(); ++i) {
      const auto shift = static_cast<uint32_t>(i * bytes % 4 * 8);
      const Id bits = bits_of(scalar, values[i]);
      if (shift == 0) {
        words.push_back(bits);
      } else {
        words.back() =
            binary(spv::kBitwiseOr, 32, words.back(), binary(spv::kShiftLeftLogical, 32, bits, writer_.number(shift)));
      }
    }
  }
  if (units == 1) return store_buffer(place, one, at, unit, words[0]);
  const Id type = writer_.vector_type(one, static_cast<uint32_t>(units));
  store_buffer(place, type, at, units * unit, writer_.op(spv::kCompositeConstruct, type, words));
}

namespace {

// Several i1 are bits that follow each other in memory; one is a byte.
bool are_bits(llvm::ArrayRef<Type> scalars) { return scalars.size() > 1 && scalars[0].isInteger(1); }

// What is known at an offset from something that is aligned.
uint64_t alignment_at(uint64_t alignment, uint64_t offset) {
  return offset == 0 ? alignment : std::min(alignment, offset & (~offset + 1));
}

}  // namespace

// Bits stand in whole bytes.
Ids FunctionWriter::load_from(const Place& place, Scalars scalars, Id base, uint64_t alignment) {
  const Type scalar = scalars[0];
  Ids made;
  if (are_bits(scalars)) {
    for (uint64_t byte = 0; byte < scalars.size() / 8; ++byte) {
      const Id bits = load_bits(place, 1, base, byte, 1);
      for (uint32_t bit = 0; bit < 8; ++bit) {
        made.push_back(of_bits(scalar, binary(spv::kShiftRightLogical, 32, bits, writer_.number(bit))));
      }
    }
    return made;
  }
  const size_t run = run_length(place, scalar, scalars.size(), alignment);
  for (size_t i = 0; i < scalars.size(); i += run) {
    const uint64_t offset = i * bytes_of(scalar);
    if (run == 1) {
      made.push_back(load_scalar(place, scalar, base, offset, alignment_at(alignment, offset)));
    } else {
      made.append(load_run(place, scalar, address(place, base, offset), run));
    }
  }
  return made;
}

void FunctionWriter::store_to(const Place& place, Scalars scalars, Id base, uint64_t alignment, const Ids& values) {
  const Type scalar = scalars[0];
  if (are_bits(scalars)) {
    for (size_t byte = 0; byte < scalars.size() / 8; ++byte) {
      Id bits = bits_of(scalar, values[byte * 8]);
      for (uint32_t bit = 1; bit < 8; ++bit) {
        const Id moved =
            binary(spv::kShiftLeftLogical, 32, bits_of(scalar, values[byte * 8 + bit]), writer_.number(bit));
        bits = binary(spv::kBitwiseOr, 32, bits, moved);
      }
      store_bits(place, 1, base, byte, 1, bits);
    }
    return;
  }
  const size_t run = run_length(place, scalar, scalars.size(), alignment);
  for (size_t i = 0; i < scalars.size(); i += run) {
    const uint64_t offset = i * bytes_of(scalar);
    if (run == 1) {
      store_scalar(place, scalar, base, offset, alignment_at(alignment, offset), values[i]);
    } else {
      store_run(place, scalar, address(place, base, offset), llvm::ArrayRef(values).slice(i, run));
    }
  }
}

Ids FunctionWriter::choose_place(const Place& place, Value pointer, Scalars scalars,
                                 llvm::function_ref<Ids(const Place&, Id)> access) {
  if (!place.is_either) return access(place, base_of(place, pointer));
  const Id upper = resize(binary(spv::kShiftRightLogical, 64, id(pointer), writer_.number64(32)), 64, 32);
  const Id is_shared = writer_.op(spv::kIEqual, writer_.bool_type(), {upper, writer_.number(kSharedTag)});
  const Place places[] = {{Space::kShared, shared_words(), has_barriers_}, {Space::kBuffer, 0, place.shares}};
  const Id labels[] = {writer_.new_id(), writer_.new_id()}, merge = writer_.new_id();
  writer_.effect(spv::kSelectionMerge, {merge, 0});
  writer_.effect(spv::kBranchConditional, {is_shared, labels[0], labels[1]});
  llvm::SmallVector<llvm::SmallVector<uint32_t>> sources(scalars.size());
  bool gives = false;
  for (unsigned i = 0; i < 2; ++i) {
    begin_block(labels[i]);
    const Id base = places[i].space == Space::kShared ? resize(id(pointer), 64, 32) : id(pointer);
    const Ids values = access(places[i], base);
    gives = !values.empty();
    for (size_t at = 0; at < values.size(); ++at) sources[at].append({values[at], block_});
    branch(merge);
  }
  begin_block(merge);
  Ids joined;
  for (size_t at = 0; gives && at < scalars.size(); ++at) {
    joined.push_back(writer_.op(spv::kPhi, type_of(scalars[at]), sources[at]));
  }
  return joined;
}

LogicalResult FunctionWriter::write_load(LLVM::LoadOp op) {
  const auto scalars = scalars_of(op.getType());
  if (bytes_of(scalars[0]) == 0 || llvm::isa<LLVM::LLVMStructType>(op.getType())) return refuse(op);
  if (are_bits(scalars) && scalars.size() % 8 != 0) return refuse(op);
  const Place place = place_of(op, op.getAddr());
  if (!problem_.empty()) return mlir::failure();
  const uint64_t alignment = op.getAlignment().value_or(alignment_of(op.getType()));
  set(op, choose_place(place, op.getAddr(), scalars,
                       [&](const Place& one, Id base) { return load_from(one, scalars, base, alignment); }));
  return success();
}

LogicalResult FunctionWriter::write_store(LLVM::StoreOp op) {
  const Type type = op.getValue().getType();
  const auto scalars = scalars_of(type);
  if (bytes_of(scalars[0]) == 0 || llvm::isa<LLVM::LLVMStructType>(type)) return refuse(op);
  if (are_bits(scalars) && scalars.size() % 8 != 0) return refuse(op);
  const Place place = place_of(op, op.getAddr());
  if (!problem_.empty()) return mlir::failure();
  const uint64_t alignment = op.getAlignment().value_or(alignment_of(type));
  const Ids values = ids(op.getValue());
  choose_place(place, op.getAddr(), scalars, [&](const Place& one, Id base) {
    store_to(one, scalars, base, alignment, values);
    return Ids();
  });
  return success();
}

void FunctionWriter::write_address(LLVM::GEPOp op) {
  const unsigned width = width_of(op.getType());
  Type type = op.getElemType();
  Id sum = id(op.getBase());
  uint64_t known = 0;
  bool first = true;
  for (const auto index : op.getIndices()) {
    const auto number = llvm::dyn_cast<mlir::IntegerAttr>(index);
    if (!first) {
      if (auto members = llvm::dyn_cast<LLVM::LLVMStructType>(type)) {
        const auto at = static_cast<size_t>(number.getInt());
        uint64_t offset = 0;
        for (size_t i = 0; i <= at; ++i) {
          offset = llvm::alignTo(offset, members.isPacked() ? 1 : alignment_of(members.getBody()[i]));
          if (i < at) offset += size_of(members.getBody()[i]);
        }
        known += offset;
        type = members.getBody()[at];
        continue;
      }
      if (auto array = llvm::dyn_cast<LLVM::LLVMArrayType>(type)) {
        type = array.getElementType();
      } else {
        type = llvm::cast<mlir::VectorType>(type).getElementType();
      }
    }
    first = false;
    const uint64_t stride = size_of(type);
    if (number) {
      known += static_cast<uint64_t>(number.getInt()) * stride;
      continue;
    }
    const Value value = llvm::cast<Value>(index);
    const unsigned given = value.getType().getIntOrFloatBitWidth();
    Id at = sign_extended(id(value), given);
    if (width == 64 && given <= 32) at = writer_.op(spv::kSConvert, writer_.int_type(64), {at});
    if (width == 32 && given > 32) at = resize(at, 64, 32);
    if (stride != 1) at = binary(spv::kIMul, width, at, number_of_width(width, stride));
    sum = binary(spv::kIAdd, width, sum, at);
  }
  if (known != 0) sum = binary(spv::kIAdd, width, sum, number_of_width(width, known));
  set(op, {sum});
}

// True: the operation was one of memory, and `result` says how it went.
// Of a word of a buffer, among all threads of the queue: what failed first of all that is checked.
LogicalResult FunctionWriter::write_exchange(LLVM::AtomicCmpXchgOp op) {
  const Place place = place_of(op, op.getPtr());
  const bool is_word = op.getVal().getType().isInteger(32) && place.space == Space::kBuffer && !place.is_either;
  if (!is_word) return refuse(op);
  writer_.need(spv::kVulkanMemoryModel);
  const Id u32 = writer_.int_type(32), relaxed = writer_.number(kRelaxed), expected = id(op.getCmp());
  const Id pointer =
      writer_.op(spv::kConvertUToPtr, writer_.pointer_type(spv::kPhysicalStorageBuffer, u32), {id(op.getPtr())});
  const Id before =
      writer_.op(spv::kAtomicCompareExchange, u32,
                 {pointer, writer_.number(kQueueFamilyScope), relaxed, relaxed, id(op.getVal()), expected});
  set(op, {before, writer_.op(spv::kIEqual, writer_.bool_type(), {before, expected})});
  return success();
}

bool FunctionWriter::write_memory(mlir::Operation* op, LogicalResult& result) {
  if (auto exchange = llvm::dyn_cast<LLVM::AtomicCmpXchgOp>(op)) return result = write_exchange(exchange), true;
  if (auto load = llvm::dyn_cast<LLVM::LoadOp>(op)) return result = write_load(load), true;
  if (auto store = llvm::dyn_cast<LLVM::StoreOp>(op)) return result = write_store(store), true;
  if (auto gep = llvm::dyn_cast<LLVM::GEPOp>(op)) return write_address(gep), true;
  if (auto cast = llvm::dyn_cast<LLVM::AddrSpaceCastOp>(op)) {
    const unsigned from = width_of(cast.getArg().getType()), to = width_of(cast.getType());
    Id made = resize(id(cast.getArg()), from, to);
    if (from < to) made = binary(spv::kBitwiseOr, 64, made, writer_.number64(uint64_t{kSharedTag} << 32));
    set(op, {made});
    return true;
  }
  if (auto alloca = llvm::dyn_cast<LLVM::AllocaOp>(op)) {
    llvm::APInt count;
    if (!mlir::matchPattern(alloca.getArraySize(), mlir::m_ConstantInt(&count))) return result = refuse(op), true;
    const uint64_t bytes = count.getZExtValue() * size_of(alloca.getElemType());
    private_variables_[alloca] = words_variable(spv::kPrivate, static_cast<uint32_t>((bytes + 3) / 4));
    set(op, {writer_.number64(0)});
    return true;
  }
  if (auto address = llvm::dyn_cast<LLVM::AddressOfOp>(op)) {
    const std::string name = address.getGlobalName().str();
    if (name == kSharedMemory) return set(op, {writer_.number(0)}), true;
    const auto table = tables_.find(name);
    if (table == tables_.end()) return result = refuse(op, "nothing defines '" + name + "'"), true;
    Id& made = table_variables_[name];
    if (made == 0) {
      Ids words;
      for (const uint32_t word : table->second) words.push_back(writer_.number(word));
      const Id type = writer_.array_type(writer_.int_type(32), static_cast<uint32_t>(words.size()));
      made = words_variable(spv::kPrivate, static_cast<uint32_t>(words.size()),
                            writer_.constant(spv::kConstantComposite, type, words));
    }
    set(op, {writer_.number64(0)});
    return true;
  }
  return false;
}

}  // namespace baton::compiler_lite::codegen::vulkan
