// Types and values of LLVM's dialect as those of SPIR-V, scalar by scalar; vectors, structs and constants.
#include "compiler-lite/codegen/vulkan/function_writer.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::codegen::vulkan {

namespace LLVM = mlir::LLVM;
using mlir::failure;
using mlir::LogicalResult;
using mlir::success;
using mlir::Type;

void FunctionWriter::flatten(Type type, llvm::SmallVectorImpl<Type>& scalars) {
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(type)) {
    scalars.append(static_cast<size_t>(vector.getNumElements()), vector.getElementType());
  } else if (auto fixed = llvm::dyn_cast<LLVM::LLVMFixedVectorType>(type)) {
    scalars.append(fixed.getNumElements(), fixed.getElementType());
  } else if (auto array = llvm::dyn_cast<LLVM::LLVMArrayType>(type)) {
    for (uint64_t i = 0; i < array.getNumElements(); ++i) flatten(array.getElementType(), scalars);
  } else if (auto members = llvm::dyn_cast<LLVM::LLVMStructType>(type)) {
    for (const Type member : members.getBody()) flatten(member, scalars);
  } else {
    scalars.push_back(type);
  }
}

llvm::SmallVector<Type, 4> FunctionWriter::scalars_of(Type type) {
  llvm::SmallVector<Type, 4> scalars;
  flatten(type, scalars);
  return scalars;
}

LogicalResult FunctionWriter::check_type(mlir::Operation* op, Type type) {
  constexpr size_t kScalarsMax = 4096;
  const auto scalars = scalars_of(type);
  if (scalars.size() > kScalarsMax) return refuse(op, "it has " + llvm::Twine(scalars.size()) + " parts");
  for (const Type scalar : scalars) {
    const auto integer = llvm::dyn_cast<mlir::IntegerType>(scalar);
    const bool known = (integer && integer.getWidth() <= 64) || scalar.isF16() || scalar.isBF16() || scalar.isF32() ||
                       scalar.isF64() || llvm::isa<LLVM::LLVMPointerType, mlir::IndexType>(scalar);
    if (!known) return refuse(op, "its type has no counterpart");
  }
  return success();
}

Id FunctionWriter::type_of(Type scalar) {
  if (scalar.isInteger(1)) return writer_.bool_type();
  if (scalar.isF64()) return writer_.float_type(64);
  if (scalar.isF32() || scalar.isF16()) return writer_.float_type(32);
  if (const auto pointer = llvm::dyn_cast<LLVM::LLVMPointerType>(scalar)) {
    return writer_.int_type(pointer.getAddressSpace() == 3 ? 32 : 64);
  }
  const auto integer = llvm::dyn_cast<mlir::IntegerType>(scalar);
  return writer_.int_type(integer ? stored_width(integer.getWidth()) : 32);
}

Id FunctionWriter::zero_of(Type scalar) { return writer_.null(type_of(scalar)); }

Id FunctionWriter::number_of_width(unsigned width, uint64_t value) {
  return stored_width(width) == 32 ? writer_.number(static_cast<uint32_t>(value)) : writer_.number64(value);
}

Id FunctionWriter::constant_of(Type scalar, mlir::Attribute value) {
  if (const auto integer = llvm::dyn_cast<mlir::IntegerAttr>(value)) {
    const uint64_t bits = integer.getValue().getZExtValue();
    if (scalar.isInteger(1)) return writer_.truth(bits != 0);
    if (llvm::isa<mlir::IndexType>(scalar)) return writer_.number(static_cast<uint32_t>(bits));
    if (llvm::isa<mlir::FloatType>(scalar)) return zero_of(scalar);
    return number_of_width(scalar.getIntOrFloatBitWidth(), bits);
  }
  const auto number = llvm::dyn_cast<mlir::FloatAttr>(value);
  if (!number) return zero_of(scalar);
  llvm::APFloat wide = number.getValue();
  if (scalar.isBF16()) return writer_.number(static_cast<uint32_t>(wide.bitcastToAPInt().getZExtValue()));
  bool loses = false;
  if (scalar.isF16()) wide.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return writer_.float_number(scalar.isF64() ? 64 : 32, wide.bitcastToAPInt().getZExtValue());
}

LogicalResult FunctionWriter::write_constant(LLVM::ConstantOp op) {
  Ids made;
  const auto scalars = scalars_of(op.getType());
  if (const auto elements = llvm::dyn_cast<mlir::ElementsAttr>(op.getValue())) {
    const auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(elements);
    if (!dense) return refuse(op);
    for (const mlir::Attribute each : dense.getValues<mlir::Attribute>()) made.push_back(constant_of(scalars[0], each));
  } else {
    for (const Type scalar : scalars) made.push_back(constant_of(scalar, op.getValue()));
  }
  set(op, made);
  return success();
}

namespace {

// How many scalars stand before the member.
size_t scalars_before(Type type, llvm::ArrayRef<int64_t> position, llvm::function_ref<size_t(Type)> count) {
  size_t before = 0;
  for (const int64_t at : position) {
    if (auto members = llvm::dyn_cast<LLVM::LLVMStructType>(type)) {
      for (int64_t i = 0; i < at; ++i) before += count(members.getBody()[static_cast<size_t>(i)]);
      type = members.getBody()[static_cast<size_t>(at)];
    } else {
      type = llvm::cast<LLVM::LLVMArrayType>(type).getElementType();
      before += static_cast<size_t>(at) * count(type);
    }
  }
  return before;
}

}  // namespace

// Nothing is computed here, but for elements whose number is.
bool FunctionWriter::write_aggregate(mlir::Operation* op) {
  const auto count = [](Type type) { return scalars_of(type).size(); };
  if (auto constant = llvm::dyn_cast<LLVM::ConstantOp>(op)) return (void)write_constant(constant), true;
  if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op)) {
    set(op, {constant_of(constant.getType(), constant.getValue())});
    return true;
  }
  if (llvm::isa<LLVM::ZeroOp, LLVM::UndefOp, LLVM::PoisonOp, mlir::ub::PoisonOp>(op)) {
    Ids made;
    for (const Type scalar : scalars_of(op->getResult(0).getType())) made.push_back(zero_of(scalar));
    set(op, made);
    return true;
  }
  if (auto extract = llvm::dyn_cast<LLVM::ExtractValueOp>(op)) {
    const size_t first = scalars_before(extract.getContainer().getType(), extract.getPosition(), count);
    const Ids all = ids(extract.getContainer());
    set(op, Ids(llvm::ArrayRef(all).slice(first, count(extract.getType()))));
    return true;
  }
  if (auto insert = llvm::dyn_cast<LLVM::InsertValueOp>(op)) {
    Ids all = ids(insert.getContainer());
    const size_t first = scalars_before(insert.getContainer().getType(), insert.getPosition(), count);
    llvm::copy(ids(insert.getValue()), all.begin() + static_cast<ptrdiff_t>(first));
    set(op, all);
    return true;
  }
  if (auto shuffle = llvm::dyn_cast<LLVM::ShuffleVectorOp>(op)) {
    Ids all = ids(shuffle.getV1()), picked;
    all.append(ids(shuffle.getV2()));
    for (const int32_t at : shuffle.getMask()) picked.push_back(all[static_cast<size_t>(std::max(at, 0))]);
    set(op, picked);
    return true;
  }
  if (auto extract = llvm::dyn_cast<LLVM::ExtractElementOp>(op)) {
    const Ids all = ids(extract.getVector());
    llvm::APInt at;
    if (mlir::matchPattern(extract.getPosition(), mlir::m_ConstantInt(&at))) {
      set(op, {all[std::min<uint64_t>(at.getZExtValue(), all.size() - 1)]});
      return true;
    }
    Id chosen = all[0];
    const unsigned width = extract.getPosition().getType().getIntOrFloatBitWidth();
    for (size_t i = 1; i < all.size(); ++i) {
      const Id is =
          writer_.op(spv::kIEqual, writer_.bool_type(), {id(extract.getPosition()), number_of_width(width, i)});
      chosen = writer_.op(spv::kSelect, type_of(extract.getType()), {is, all[i], chosen});
    }
    set(op, {chosen});
    return true;
  }
  if (auto insert = llvm::dyn_cast<LLVM::InsertElementOp>(op)) {
    Ids all = ids(insert.getVector());
    const Id value = id(insert.getValue());
    llvm::APInt at;
    const bool known = mlir::matchPattern(insert.getPosition(), mlir::m_ConstantInt(&at));
    const unsigned width = insert.getPosition().getType().getIntOrFloatBitWidth();
    for (size_t i = 0; i < all.size(); ++i) {
      if (known && at.getZExtValue() == i) all[i] = value;
      if (known) continue;
      const Id is =
          writer_.op(spv::kIEqual, writer_.bool_type(), {id(insert.getPosition()), number_of_width(width, i)});
      all[i] = writer_.op(spv::kSelect, type_of(insert.getValue().getType()), {is, value, all[i]});
    }
    set(op, all);
    return true;
  }
  if (auto select = llvm::dyn_cast<LLVM::SelectOp>(op)) {
    const auto scalars = scalars_of(select.getType());
    const Ids conditions = ids(select.getCondition()), yes = ids(select.getTrueValue()),
              no = ids(select.getFalseValue());
    Ids made;
    for (size_t i = 0; i < scalars.size(); ++i) {
      const Id condition = conditions[conditions.size() == 1 ? 0 : i];
      made.push_back(writer_.op(spv::kSelect, type_of(scalars[i]), {condition, yes[i], no[i]}));
    }
    set(op, made);
    return true;
  }
  return false;
}

}  // namespace baton::compiler_lite::codegen::vulkan
