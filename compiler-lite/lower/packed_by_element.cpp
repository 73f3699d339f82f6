// Packing into tiles whose sizes only the call knows: each element is looked up where it comes from.
#include "compiler-lite/codegen/by_element.hpp"
#include "compiler-lite/lower/decompose_loops.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

// Which dimensions of the packed tensor hold dimension `d` of the other one.
struct Places {
  size_t outer = 0;
  std::optional<size_t> inner;  // Where it is cut into tiles, with the size of those.
  OpFoldResult tile;
};

template <typename Op>
SmallVector<Places> places_of(Op op, int64_t rank) {
  SmallVector<Places> places(static_cast<size_t>(rank));
  for (size_t d = 0; d < places.size(); ++d) places[d].outer = d;
  for (const auto& [at, d] : llvm::enumerate(op.getOuterDimsPerm())) places[static_cast<size_t>(d)].outer = at;
  const SmallVector<OpFoldResult> tiles = op.getMixedTiles();
  for (const auto& [i, d] : llvm::enumerate(op.getInnerDimsPos())) {
    places[static_cast<size_t>(d)].inner = static_cast<size_t>(rank) + i;
    places[static_cast<size_t>(d)].tile = tiles[i];
  }
  return places;
}

void replace(IRRewriter& rewriter, Operation* op, Value dest, codegen::ElementWriter write) {
  const auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value made = codegen::make_by_element(rewriter, op->getLoc(), tensor::getMixedSizes(rewriter, op->getLoc(), dest),
                                        type.getElementType(), {}, write)
                   .getResult(0);
  if (made.getType() != type) made = rewriter.create<tensor::CastOp>(op->getLoc(), type, made);
  rewriter.replaceOp(op, made);
}

Value both(OpBuilder& builder, Location where, Value a, Value b) {
  return a ? builder.create<arith::AndIOp>(where, a, b).getResult() : b;
}

}  // namespace

void pack_by_element(IRRewriter& rewriter, tensor::PackOp op) {
  const int64_t rank = op.getSourceType().getRank();
  const SmallVector<Places> places = places_of(op, rank);
  const SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), op.getSource());
  const auto write = [&](OpBuilder& body, Location where, ValueRange) -> Value {
    const auto point = codegen::this_element(body, where, static_cast<size_t>(op.getDestType().getRank()));
    SmallVector<Value> from;
    Value is_inside;
    for (const auto& [d, place] : llvm::enumerate(places)) {
      Value at = point[place.outer];
      if (place.inner) {
        const Value tile = getValueOrCreateConstantIndexOp(body, where, place.tile);
        at = body.create<arith::AddIOp>(where, body.create<arith::MulIOp>(where, at, tile), point[*place.inner]);
        const Value size = getValueOrCreateConstantIndexOp(body, where, sizes[d]);
        is_inside =
            both(body, where, is_inside, body.create<arith::CmpIOp>(where, arith::CmpIPredicate::ult, at, size));
      }
      from.push_back(at);
    }
    const Value filling = op.getPaddingValue();
    if (!filling || !is_inside) return body.create<tensor::ExtractOp>(where, op.getSource(), from);
    auto choice = body.create<scf::IfOp>(
        where, is_inside,
        [&](OpBuilder& inside, Location at) {
          inside.create<scf::YieldOp>(at, inside.create<tensor::ExtractOp>(at, op.getSource(), from).getResult());
        },
        [&](OpBuilder& inside, Location at) { inside.create<scf::YieldOp>(at, filling); });
    return choice.getResult(0);
  };
  replace(rewriter, op, op.getDest(), write);
}

void unpack_by_element(IRRewriter& rewriter, tensor::UnPackOp op) {
  const int64_t rank = op.getDestType().getRank();
  const SmallVector<Places> places = places_of(op, rank);
  const auto write = [&](OpBuilder& body, Location where, ValueRange) -> Value {
    const auto point = codegen::this_element(body, where, static_cast<size_t>(rank));
    SmallVector<Value> from(static_cast<size_t>(op.getSourceType().getRank()));
    for (const auto& [d, place] : llvm::enumerate(places)) {
      from[place.outer] = point[d];
      if (!place.inner) continue;
      const Value tile = getValueOrCreateConstantIndexOp(body, where, place.tile);
      from[place.outer] = body.create<arith::DivUIOp>(where, point[d], tile);
      from[*place.inner] = body.create<arith::RemUIOp>(where, point[d], tile);
    }
    return body.create<tensor::ExtractOp>(where, op.getSource(), from);
  };
  replace(rewriter, op, op.getDest(), write);
}

}  // namespace baton::compiler_lite::lower
