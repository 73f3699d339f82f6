#include "compiler-lite/codegen/gpu/combine.hpp"

#include "compiler-lite/codegen/gpu/block.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace arith = mlir::arith;
namespace NVVM = mlir::NVVM;
namespace scf = mlir::scf;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

Value constant(OpBuilder& builder, Location location, int64_t value) {
  return builder.create<arith::ConstantIndexOp>(location, value);
}

}  // namespace

Value shuffle(OpBuilder& builder, Location location, Value value, int64_t distance) {
  const mlir::Type i32 = builder.getI32Type(), type = value.getType();
  const auto number = [&](int64_t n) -> Value { return builder.create<arith::ConstantIntOp>(location, n, 32); };
  const auto move = [&](Value word) -> Value {
    return builder.create<NVVM::ShflOp>(location, word.getType(), number(-1), word, number(distance), number(31),
                                        NVVM::ShflKind::bfly, mlir::UnitAttr());
  };
  if (type.isF32() || type.isInteger(32)) return move(value);
  const unsigned width = llvm::isa<mlir::IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
  const mlir::Type bits_type = builder.getIntegerType(width);
  Value bits = value;
  if (llvm::isa<mlir::IndexType>(type)) bits = builder.create<arith::IndexCastOp>(location, bits_type, value);
  if (llvm::isa<mlir::FloatType>(type)) bits = builder.create<arith::BitcastOp>(location, bits_type, value);
  if (width < 32) {
    bits =
        builder.create<arith::TruncIOp>(location, bits_type, move(builder.create<arith::ExtUIOp>(location, i32, bits)));
  } else if (width == 64) {
    const Value half = builder.create<arith::ConstantIntOp>(location, 32, 64);
    const Value high =
        builder.create<arith::TruncIOp>(location, i32, builder.create<arith::ShRUIOp>(location, bits, half));
    const Value low = builder.create<arith::TruncIOp>(location, i32, bits);
    const Value moved_high = builder.create<arith::ExtUIOp>(location, bits_type, move(high));
    const Value moved_low = builder.create<arith::ExtUIOp>(location, bits_type, move(low));
    bits = builder.create<arith::OrIOp>(location, builder.create<arith::ShLIOp>(location, moved_high, half), moved_low);
  }
  if (llvm::isa<mlir::IndexType>(type)) return builder.create<arith::IndexCastOp>(location, type, bits);
  return llvm::isa<mlir::FloatType>(type) ? builder.create<arith::BitcastOp>(location, type, bits).getResult() : bits;
}

namespace {

void join_lanes(OpBuilder& builder, Location location, const Joiner& joiner, Values& parts, int64_t lanes) {
  for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
    Values others;
    for (const Value part : parts) others.push_back(shuffle(builder, location, part, distance));
    parts = joiner.join(builder, parts, others);
  }
}

// Every warp leaves its part in shared memory; every warp joins them.
void join_warps(OpBuilder& builder, Location location, const Joiner& joiner, Values& parts, Value lane, int64_t warps,
                int64_t lanes) {
  const Value width = constant(builder, location, lanes);
  const Value warp = builder.create<arith::DivUIOp>(location, lane, width);
  const Value in_warp = builder.create<arith::RemUIOp>(location, lane, width);
  Values places;
  for (const Value part : parts) {
    places.push_back(builder.create<mlir::memref::AllocOp>(location, mlir::MemRefType::get({warps}, part.getType())));
  }
  const auto is = [&](Value number, arith::CmpIPredicate how, int64_t value) -> Value {
    return builder.create<arith::CmpIOp>(location, how, number, constant(builder, location, value));
  };
  auto leave = builder.create<scf::IfOp>(location, is(in_warp, arith::CmpIPredicate::eq, 0));
  OpBuilder leaving = leave.getThenBodyBuilder();
  for (size_t i = 0; i < parts.size(); ++i) {
    leaving.create<mlir::memref::StoreOp>(location, parts[i], places[i], warp);
  }
  Block::barrier(builder, location);
  // Where warps are more than lanes, a lane takes several; lanes beyond the last warp hold what changes nothing.
  for (int64_t first = 0; first < warps; first += lanes) {
    const Value number = builder.createOrFold<arith::AddIOp>(location, in_warp, constant(builder, location, first));
    const Value has_part = first + lanes <= warps ? Value() : is(number, arith::CmpIPredicate::ult, warps);
    Value place = number;
    if (has_part) {
      place = builder.create<arith::SelectOp>(location, has_part, number, constant(builder, location, 0));
    }
    Values others;
    for (const Value from : places) others.push_back(builder.create<mlir::memref::LoadOp>(location, from, place));
    if (has_part) {
      const Values neutral = joiner.neutral(builder, location);
      for (size_t i = 0; i < others.size(); ++i) {
        others[i] = builder.create<arith::SelectOp>(location, has_part, others[i], neutral[i]);
      }
    }
    parts = first == 0 ? others : joiner.join(builder, parts, others);
  }
  join_lanes(builder, location, joiner, parts, lanes);
  Block::barrier(builder, location);  // Before the places are used for the next result.
}

// How many parts one thread joins in a step.
int64_t parts_at_once(int64_t count) { return count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : count; }

// Every thread leaves its part in shared memory; fewer and fewer join several each.
void join_in_memory(OpBuilder& builder, Location location, const Joiner& joiner, Values& parts, Value lane,
                    int64_t group) {
  Values places;
  for (const Value part : parts) {
    places.push_back(builder.create<mlir::memref::AllocOp>(location, mlir::MemRefType::get({group}, part.getType())));
    builder.create<mlir::memref::StoreOp>(location, part, places.back(), lane);
  }
  Block::barrier(builder, location);
  for (int64_t count = group; count > 1;) {
    const int64_t each = parts_at_once(count), left = count / each;
    const Value joins =
        builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::ult, lane, constant(builder, location, left));
    auto branch = builder.create<scf::IfOp>(location, joins);
    OpBuilder inside = branch.getThenBodyBuilder();
    const auto load = [&](Value at) {
      Values loaded;
      for (const Value from : places) loaded.push_back(inside.create<mlir::memref::LoadOp>(location, from, at));
      return loaded;
    };
    Values total = load(lane);
    for (int64_t other = 1; other < each; ++other) {
      const Value at = inside.create<arith::AddIOp>(location, lane, constant(inside, location, other * left));
      total = joiner.join(inside, total, load(at));
    }
    for (size_t i = 0; i < places.size(); ++i) {
      inside.create<mlir::memref::StoreOp>(location, total[i], places[i], lane);
    }
    Block::barrier(builder, location);
    count = left;
  }
  for (size_t i = 0; i < places.size(); ++i) {
    parts[i] = builder.create<mlir::memref::LoadOp>(location, places[i], constant(builder, location, 0));
  }
  Block::barrier(builder, location);  // Before the places are used for the next result.
}

}  // namespace

Values CombinerJoiner::neutral(OpBuilder& builder, Location location) const {
  Values neutral;
  for (mlir::Operation* combiner : combiners_) neutral.push_back(neutral_of(builder, location, combiner));
  return neutral;
}

Values CombinerJoiner::join(OpBuilder& builder, mlir::ValueRange a, mlir::ValueRange b) const {
  Values joined;
  for (size_t i = 0; i < combiners_.size(); ++i) joined.push_back(combine(builder, combiners_[i], a[i], b[i]));
  return joined;
}

void join(OpBuilder& builder, Location location, const Joiner& joiner, Values& parts, Value lane, int64_t group,
          int64_t warp) {
  if (group == 1) return;
  if (warp == 0) return join_in_memory(builder, location, joiner, parts, lane, group);
  join_lanes(builder, location, joiner, parts, warp);
  if (group > warp) join_warps(builder, location, joiner, parts, lane, group / warp, warp);
}

}  // namespace baton::compiler_lite::codegen::gpu
