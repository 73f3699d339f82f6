#include "compiler-lite/codegen/llvm/access_checks.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace LLVM = mlir::LLVM;
using llvm::SmallVector;
using mlir::Block;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Value;

// One side of an operation: some read and write.
struct Access {
  Operation* op;
  const char* verb;
  Value pointer;          // Or a vector of them.
  uint64_t bytes = 0;     // All of it; of a masked one, one lane.
  Value dynamic_bytes{};  // In place of `bytes`.
  Value mask{};
};

// What loads and stores touch: packed, without the padding behind it.
uint64_t stored_bytes(Operation* op, mlir::Type type) {
  if (const auto vector = llvm::dyn_cast<mlir::VectorType>(type)) {
    const auto count = static_cast<uint64_t>(vector.getNumElements());
    if (vector.getElementType().isIntOrFloat()) return (count * vector.getElementTypeBitWidth() + 7) / 8;
    return count * stored_bytes(op, vector.getElementType());
  }
  if (type.isIntOrFloat()) return (type.getIntOrFloatBitWidth() + 7) / 8;
  return mlir::DataLayout::closest(op).getTypeSize(type).getFixedValue();
}

uint64_t lane_bytes(Operation* op, mlir::Type vector) {
  return stored_bytes(op, llvm::cast<mlir::VectorType>(vector).getElementType());
}

void add_copy(Operation* op, Value to, Value from, Value length, SmallVector<Access>& found) {
  found.push_back({op, "writes", to, 0, length});
  found.push_back({op, "reads", from, 0, length});
}

SmallVector<Access> accesses_of(Operation* op) {
  SmallVector<Access> found;
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](LLVM::LoadOp load) {
        found.push_back({op, "reads", load.getAddr(), stored_bytes(op, load.getType())});
      })
      .Case([&](LLVM::StoreOp store) {
        found.push_back({op, "writes", store.getAddr(), stored_bytes(op, store.getValue().getType())});
      })
      .Case([&](LLVM::AtomicRMWOp change) {
        found.push_back({op, "changes", change.getPtr(), stored_bytes(op, change.getType())});
      })
      .Case([&](LLVM::AtomicCmpXchgOp change) {
        found.push_back({op, "changes", change.getPtr(), stored_bytes(op, change.getVal().getType())});
      })
      .Case([&](LLVM::MaskedLoadOp load) {
        found.push_back({op, "reads", load.getData(), lane_bytes(op, load.getType()), {}, load.getMask()});
      })
      .Case([&](LLVM::MaskedStoreOp store) {
        found.push_back(
            {op, "writes", store.getData(), lane_bytes(op, store.getValue().getType()), {}, store.getMask()});
      })
      .Case([&](LLVM::masked_gather load) {
        found.push_back({op, "reads", load.getPtrs(), lane_bytes(op, load.getType()), {}, load.getMask()});
      })
      .Case([&](LLVM::masked_scatter store) {
        found.push_back(
            {op, "writes", store.getPtrs(), lane_bytes(op, store.getValue().getType()), {}, store.getMask()});
      })
      .Case([&](LLVM::MemcpyOp copy) { add_copy(op, copy.getDst(), copy.getSrc(), copy.getLen(), found); })
      .Case([&](LLVM::MemmoveOp copy) { add_copy(op, copy.getDst(), copy.getSrc(), copy.getLen(), found); })
      .Case([&](LLVM::MemsetOp fill) {
        found.push_back({op, "writes", fill.getDst(), 0, fill.getLen()});
      });
  return found;
}

// Others that touch memory through a pointer; calls are the callee's own matter.
bool is_other_access(Operation* op) {
  return llvm::isa<LLVM::MemcpyInlineOp, LLVM::masked_expandload, LLVM::masked_compressstore>(op);
}

// What an operation that takes a value out of an aggregate finds there.
Value extracted(LLVM::ExtractValueOp extract) {
  Value container = extract.getContainer();
  while (auto insert = container.getDefiningOp<LLVM::InsertValueOp>()) {
    if (insert.getPosition() == extract.getPosition()) return insert.getValue();
    container = insert.getContainer();
  }
  return {};
}

// The value one step nearer to where the pointer comes from; null for one that no arithmetic made.
Value step_to_base(Value pointer) {
  Operation* op = pointer.getDefiningOp();
  if (!op) return {};
  if (auto gep = llvm::dyn_cast<LLVM::GEPOp>(op)) return gep.getBase();
  if (auto cast = llvm::dyn_cast<LLVM::AddrSpaceCastOp>(op)) return cast.getArg();
  if (auto extract = llvm::dyn_cast<LLVM::ExtractValueOp>(op)) return extracted(extract);
  return {};
}

// All that a pointer may come from, through loops and choices.
void find_bases(Value pointer, llvm::SmallSetVector<Value, 2>& bases, llvm::SmallPtrSetImpl<void*>& seen) {
  while (const Value before = step_to_base(pointer)) pointer = before;
  if (!seen.insert(pointer.getAsOpaquePointer()).second) return;
  if (auto choice = pointer.getDefiningOp<LLVM::SelectOp>()) {
    find_bases(choice.getTrueValue(), bases, seen);
    return find_bases(choice.getFalseValue(), bases, seen);
  }
  const auto argument = llvm::dyn_cast<mlir::BlockArgument>(pointer);
  if (!argument || argument.getOwner()->isEntryBlock()) {
    bases.insert(pointer);
    return;
  }
  for (Block* from : argument.getOwner()->getPredecessors()) {
    auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(from->getTerminator());
    for (unsigned i = 0; branch && i < from->getNumSuccessors(); ++i) {
      if (from->getSuccessor(i) != argument.getOwner()) continue;
      find_bases(branch.getSuccessorOperands(i)[argument.getArgNumber()], bases, seen);
    }
  }
}

std::string line_of(Location location) {
  const auto place = location->findInstanceOf<mlir::FileLineColLoc>();
  if (!place) return {};
  return (place.getFilename().getValue() + ":" + llvm::Twine(place.getLine()) + ":" + llvm::Twine(place.getColumn()))
      .str();
}

bool accesses_memory(LLVM::LLVMFuncOp function) {
  return function
      .walk([](Operation* op) {
        return is_other_access(op) || !accesses_of(op).empty() ? mlir::WalkResult::interrupt()
                                                               : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

class Checker {
 public:
  Checker(LLVM::LLVMFuncOp kernel, KernelMemory& memory, std::vector<AccessCheck>& checks)
      : kernel_(kernel), memory_(memory), checks_(checks) {}

  mlir::LogicalResult run() {
    SmallVector<Access> found;
    Operation* unknown = nullptr;
    kernel_.walk([&](Operation* op) {
      if (auto gep = llvm::dyn_cast<LLVM::GEPOp>(op)) gep.setInbounds(false);
      if (auto arithmetic = llvm::dyn_cast<LLVM::IntegerOverflowFlagsInterface>(op)) {
        arithmetic.setOverflowFlags(LLVM::IntegerOverflowFlags::none);
      }
      if (is_other_access(op)) unknown = op;
      llvm::append_range(found, accesses_of(op));
    });
    if (unknown) return unknown->emitError("'") << unknown->getName() << "' can't be checked; leave out --sanitize.";
    // Objects first: what they need stands before all that is split.
    SmallVector<std::optional<KernelMemory::Object>> objects;
    for (const Access& access : found) {
      objects.push_back(object_of(access));
      if (objects.back()) continue;
      return access.op->emitError(
          "It isn't known which memory this accesses, so the access can't be checked; leave "
          "out --sanitize.");
    }
    // What stood before an access is split, and its operands are another block's by then: they are read anew.
    Operation* last = nullptr;
    unsigned side = 0;
    for (const auto& [access, object] : llvm::zip(found, objects)) {
      side = access.op == last ? side + 1 : 0;
      last = access.op;
      if (object->begin) check(accesses_of(last)[side], *object);
    }
    return mlir::success();
  }

 private:
  std::optional<KernelMemory::Object> object_of(const Access& access) {
    llvm::SmallSetVector<Value, 2> bases;
    llvm::SmallPtrSet<void*, 8> seen;
    find_bases(access.pointer, bases, seen);
    if (bases.size() != 1) return std::nullopt;
    const auto [known, is_new] = objects_.insert({bases[0], std::nullopt});
    if (is_new) known->second = describe(bases[0]);
    return known->second;
  }

  std::optional<KernelMemory::Object> describe(Value base) {
    if (auto object = memory_.object_at(base)) return object;
    Operation* op = base.getDefiningOp();
    OpBuilder builder(kernel_.getContext());
    if (op) builder.setInsertionPointAfter(op);
    if (auto variable = llvm::dyn_cast_or_null<LLVM::AllocaOp>(op)) {
      const Value each = make_i64(builder, op->getLoc(), allocated_bytes(op, variable.getElemType()));
      Value count = variable.getArraySize();
      if (!count.getType().isInteger(64)) {
        count = builder.create<LLVM::ZExtOp>(op->getLoc(), builder.getI64Type(), count);
      }
      return KernelMemory::Object{base, builder.create<LLVM::MulOp>(op->getLoc(), each, count), "a temporary"};
    }
    if (auto address = llvm::dyn_cast_or_null<LLVM::AddressOfOp>(op)) {
      mlir::SymbolTableCollection tables;
      if (LLVM::GlobalOp global = address.getGlobal(tables)) {
        return KernelMemory::Object{base, make_i64(builder, op->getLoc(), allocated_bytes(op, global.getGlobalType())),
                                    "a constant"};
      }
    }
    return std::nullopt;
  }

  static int64_t allocated_bytes(Operation* op, mlir::Type type) {
    return static_cast<int64_t>(mlir::DataLayout::closest(op).getTypeSize(type).getFixedValue());
  }

  void check(const Access& access, const KernelMemory::Object& object) {
    OpBuilder builder(access.op);
    const Location location = access.op->getLoc();
    const mlir::Type i64 = builder.getI64Type();
    Value begin = builder.create<LLVM::PtrToIntOp>(location, i64, in_space_of(builder, access, object.begin));
    Value offset, bad;
    if (access.mask) {
      bad = any_lane_outside(builder, access, object.size, lane_offsets(builder, access, begin), offset);
    } else {
      offset =
          builder.create<LLVM::SubOp>(location, builder.create<LLVM::PtrToIntOp>(location, i64, access.pointer), begin);
      bad = is_outside(builder, access, object.size, offset);
    }
    const std::string bytes =
        access.bytes == 0 ? "" : std::to_string(access.bytes) + (access.bytes == 1 ? " byte" : " bytes");
    checks_.push_back(
        {std::string(access.verb) + " " + (bytes.empty() ? "" : bytes + " of ") + object.name, line_of(location)});
    const Value number = make_i32(builder, location, static_cast<int64_t>(checks_.size()));
    memory_.leaves() ? leave_if(bad, access.op, {number, offset, object.size})
                     : skip_if(bad, access.op, {number, offset, object.size});
  }

  static constexpr std::pair<uint32_t, uint32_t> kSeldom{1, 1u << 20};

  // One block for all that fails, which ends the kernel.
  void leave_if(Value bad, Operation* op, mlir::ValueRange what) {
    Block* before = op->getBlock();
    Block* rest = before->splitBlock(op);
    OpBuilder builder = OpBuilder::atBlockEnd(before);
    builder.create<LLVM::CondBrOp>(op->getLoc(), bad, failed_block(), what, rest, mlir::ValueRange(), kSeldom);
  }

  // Around the access, which gives zeros where it isn't made.
  void skip_if(Value bad, Operation* op, mlir::ValueRange what) {
    const Location location = op->getLoc();
    Block* before = op->getBlock();
    Block* made = before->splitBlock(op);
    Block* rest = made->splitBlock(op->getNextNode());
    auto* failed = new Block;
    failed->insertBefore(rest);
    OpBuilder builder = OpBuilder::atBlockEnd(failed);
    SmallVector<Value> zeros;
    for (Value result : op->getResults()) {
      zeros.push_back(builder.create<LLVM::ZeroOp>(location, result.getType()));
      result.replaceAllUsesWith(rest->addArgument(result.getType(), location));
    }
    memory_.fail(builder, location, what[0], what[1], what[2]);
    builder.create<LLVM::BrOp>(location, zeros, rest);
    builder.setInsertionPointToEnd(made);
    builder.create<LLVM::BrOp>(location, op->getResults(), rest);
    builder.setInsertionPointToEnd(before);
    builder.create<LLVM::CondBrOp>(location, bad, failed, mlir::ValueRange(), made, mlir::ValueRange(), kSeldom);
  }

  // Memory of a space of its own is accessed by pointers that have lost it, too.
  static Value in_space_of(OpBuilder& builder, const Access& access, Value begin) {
    mlir::Type type = access.pointer.getType();
    if (const auto lanes = llvm::dyn_cast<mlir::ShapedType>(type)) type = lanes.getElementType();
    if (const auto lanes = llvm::dyn_cast<LLVM::LLVMFixedVectorType>(type)) type = lanes.getElementType();
    return type == begin.getType() ? begin : builder.create<LLVM::AddrSpaceCastOp>(access.op->getLoc(), type, begin);
  }

  // In unsigned numbers, so that an offset before the object is a huge one. Nothing is accessed by a length of zero.
  Value is_outside(OpBuilder& builder, const Access& access, Value size, Value offset) {
    const Location location = access.op->getLoc();
    Value bytes = access.dynamic_bytes;
    if (!bytes) bytes = make_i64(builder, location, static_cast<int64_t>(access.bytes));
    if (!bytes.getType().isInteger(64)) bytes = builder.create<LLVM::ZExtOp>(location, builder.getI64Type(), bytes);
    const auto compare = [&](LLVM::ICmpPredicate predicate, Value a, Value b) -> Value {
      return builder.create<LLVM::ICmpOp>(location, predicate, a, b);
    };
    const Value last = builder.create<LLVM::SubOp>(location, size, bytes);
    const Value outside = builder.create<LLVM::OrOp>(location, compare(LLVM::ICmpPredicate::ugt, bytes, size),
                                                     compare(LLVM::ICmpPredicate::ugt, offset, last));
    if (!access.dynamic_bytes) return outside;
    const Value some = compare(LLVM::ICmpPredicate::ne, bytes, make_i64(builder, location, 0));
    return builder.create<LLVM::AndOp>(location, some, outside);
  }

  Value splat(OpBuilder& builder, Location location, Value value, int64_t count) {
    const auto type = mlir::VectorType::get({count}, value.getType());
    const Value none = builder.create<LLVM::PoisonOp>(location, type);
    const Value first = builder.create<LLVM::InsertElementOp>(location, none, value, make_i32(builder, location, 0));
    return builder.create<LLVM::ShuffleVectorOp>(location, first, none,
                                                 SmallVector<int32_t>(static_cast<size_t>(count), 0));
  }

  static int64_t lanes_of(const Access& access) {
    return llvm::cast<mlir::VectorType>(access.mask.getType()).getNumElements();
  }

  Value lane_offsets(OpBuilder& builder, const Access& access, Value begin) {
    const Location location = access.op->getLoc();
    const int64_t count = lanes_of(access);
    const auto type = mlir::VectorType::get({count}, builder.getI64Type());
    if (LLVM::isCompatibleVectorType(access.pointer.getType())) {
      const Value addresses = builder.create<LLVM::PtrToIntOp>(location, type, access.pointer);
      return builder.create<LLVM::SubOp>(location, addresses, splat(builder, location, begin, count));
    }
    const Value address = builder.create<LLVM::PtrToIntOp>(location, builder.getI64Type(), access.pointer);
    const Value offset = builder.create<LLVM::SubOp>(location, address, begin);
    SmallVector<int64_t> steps;
    for (int64_t i = 0; i < count; ++i) steps.push_back(i * static_cast<int64_t>(access.bytes));
    const Value step =
        builder.create<LLVM::ConstantOp>(location, type, mlir::DenseElementsAttr::get(type, llvm::ArrayRef(steps)));
    return builder.create<LLVM::AddOp>(location, splat(builder, location, offset, count), step);
  }

  // And `offset`, the smallest one that is outside.
  Value any_lane_outside(OpBuilder& builder, const Access& access, Value size, Value lanes, Value& offset) {
    const Location location = access.op->getLoc();
    const int64_t count = lanes_of(access);
    const Value bytes = make_i64(builder, location, static_cast<int64_t>(access.bytes));
    const Value small = builder.create<LLVM::ICmpOp>(location, LLVM::ICmpPredicate::ugt, bytes, size);
    const Value last = builder.create<LLVM::SubOp>(location, size, bytes);
    Value outside =
        builder.create<LLVM::ICmpOp>(location, LLVM::ICmpPredicate::ugt, lanes, splat(builder, location, last, count));
    outside = builder.create<LLVM::OrOp>(location, outside, splat(builder, location, small, count));
    outside = builder.create<LLVM::AndOp>(location, outside, access.mask);
    const Value none = splat(builder, location, make_i64(builder, location, -1), count);
    const Value those = builder.create<LLVM::SelectOp>(location, outside, lanes, none);
    offset = builder.create<LLVM::vector_reduce_umin>(location, builder.getI64Type(), those);
    return builder.create<LLVM::vector_reduce_or>(location, builder.getI1Type(), outside);
  }

  // Where all checks of the kernel go that fail.
  Block* failed_block() {
    if (failed_) return failed_;
    OpBuilder builder(kernel_.getContext());
    const Location location = kernel_.getLoc();
    const mlir::Type i64 = builder.getI64Type();
    failed_ = builder.createBlock(&kernel_.getBody(), kernel_.getBody().end(), {builder.getI32Type(), i64, i64},
                                  {location, location, location});
    memory_.fail(builder, location, failed_->getArgument(0), failed_->getArgument(1), failed_->getArgument(2));
    return failed_;
  }

  LLVM::LLVMFuncOp kernel_;
  KernelMemory& memory_;
  std::vector<AccessCheck>& checks_;
  llvm::MapVector<Value, std::optional<KernelMemory::Object>> objects_;
  Block* failed_ = nullptr;
};

}  // namespace

mlir::LogicalResult refuse_other_accesses(mlir::ModuleOp kernels,
                                          const llvm::SmallPtrSetImpl<mlir::Operation*>& checked) {
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>()) {
    if (checked.contains(function) || !accesses_memory(function)) continue;
    return function.emitError("'") << function.getName() << "' accesses memory and isn't inlined into the kernels that "
                                   << "call it, so it can't be checked; leave out --sanitize.";
  }
  return mlir::success();
}

mlir::LogicalResult check_accesses(LLVM::LLVMFuncOp kernel, KernelMemory& memory, std::vector<AccessCheck>& checks) {
  return Checker(kernel, memory, checks).run();
}

}  // namespace baton::compiler_lite::codegen
