#include "compiler-lite/schedule/product_layout.hpp"

#include <algorithm>
#include <array>

namespace baton::compiler_lite::schedule {
namespace {

using codegen::ProductForm;
using llvm::SmallVector;

constexpr size_t kOperands = 3, kBatchesMax = 2;

LibraryNumber times(LibraryNumber a, const LibraryNumber& b) {
  a.factor *= b.factor;
  a.sizes.append(b.sizes.begin(), b.sizes.end());
  llvm::sort(a.sizes);
  if (a.factor == 0) a.sizes.clear();
  return a;
}
bool same(const LibraryNumber& a, const LibraryNumber& b) { return a.factor == b.factor && a.sizes == b.sizes; }
bool is_known(const LibraryNumber& number, int64_t value) { return number.sizes.empty() && number.factor == value; }

// One dimension of the batch or of the matrices.
struct Dimension {
  LibraryNumber size;
  std::array<LibraryNumber, kOperands> strides = {LibraryNumber{0, {}}, LibraryNumber{0, {}}, LibraryNumber{0, {}}};
};

class Loops {
 public:
  Loops(mlir::linalg::LinalgOp op, const ProductForm& form)
      : operands_{form.a, form.b, 2}, ranges_(op.getStaticLoopRanges()) {
    const SmallVector<mlir::AffineMap> maps = op.getIndexingMapsArray();
    for (const unsigned operand : operands_) maps_.push_back(maps[operand]);
  }

  bool are_plain() const {
    return llvm::all_of(maps_, [](mlir::AffineMap map) { return map.isProjectedPermutation(); });
  }

  // Outer ones first; loops of one step are none.
  std::vector<Dimension> collapse(llvm::ArrayRef<unsigned> loops, size_t ordered_by) const {
    SmallVector<unsigned> order;
    for (const unsigned loop : loops) {
      if (ranges_[loop] != 1) order.push_back(loop);
    }
    llvm::sort(order, [&](unsigned a, unsigned b) { return place(ordered_by, a) < place(ordered_by, b); });
    std::vector<Dimension> all;
    for (const unsigned loop : order) {
      Dimension next = dimension(loop);
      if (!all.empty() && continues(all.back(), next)) {
        next.size = times(all.back().size, next.size);
        all.pop_back();
      }
      all.push_back(std::move(next));
    }
    return all;
  }

 private:
  int place(size_t operand, unsigned loop) const {
    for (unsigned d = 0; d < maps_[operand].getNumResults(); ++d) {
      if (maps_[operand].getDimPosition(d) == loop) return static_cast<int>(d);
    }
    return -1;
  }
  LibraryNumber size(unsigned loop) const {
    if (!mlir::ShapedType::isDynamic(ranges_[loop])) return {ranges_[loop], {}};
    for (size_t operand = 0; operand < kOperands; ++operand) {
      const int d = place(operand, loop);
      if (d >= 0) return {1, {{operands_[operand], static_cast<unsigned>(d)}}};
    }
    return {0, {}};
  }
  LibraryNumber stride(size_t operand, unsigned loop) const {
    const int d = place(operand, loop);
    if (d < 0) return {0, {}};
    LibraryNumber product;
    for (unsigned inner = static_cast<unsigned>(d) + 1; inner < maps_[operand].getNumResults(); ++inner) {
      product = times(product, size(maps_[operand].getDimPosition(inner)));
    }
    return product;
  }
  Dimension dimension(unsigned loop) const {
    Dimension made{.size = size(loop)};
    for (size_t operand = 0; operand < kOperands; ++operand) made.strides[operand] = stride(operand, loop);
    return made;
  }
  // Whether a step of `outer` is as far as all of `inner`, in each operand.
  static bool continues(const Dimension& outer, const Dimension& inner) {
    for (size_t operand = 0; operand < kOperands; ++operand) {
      if (!same(outer.strides[operand], times(inner.strides[operand], inner.size))) return false;
    }
    return true;
  }

  std::array<unsigned, kOperands> operands_;
  SmallVector<int64_t> ranges_;
  SmallVector<mlir::AffineMap> maps_;
};

// The innermost dimension is the matrix's, the others are batches.
Dimension take_last(std::vector<Dimension>& from, std::vector<Dimension>& batches) {
  if (from.empty()) return {};
  Dimension last = std::move(from.back());
  from.pop_back();
  batches.insert(batches.end(), from.begin(), from.end());
  return last;
}

bool has_unit(const Dimension& one, const Dimension& other, size_t operand) {
  return is_known(one.strides[operand], 1) || is_known(other.strides[operand], 1);
}

}  // namespace

LayoutOrReason product_layout(mlir::linalg::LinalgOp op, const ProductForm& form) {
  const Loops loops(op, form);
  if (!loops.are_plain()) return {{}, "an operand is read in windows or steps"};
  SmallVector<unsigned> row_loops(form.other_rows), column_loops(form.other_columns);
  row_loops.push_back(form.rows);
  column_loops.push_back(form.columns);
  std::vector<Dimension> batches = loops.collapse(form.batches, 2), rows = loops.collapse(row_loops, 2),
                         columns = loops.collapse(column_loops, 2), steps = loops.collapse(form.steps, 0);
  if (steps.size() > 1) return {{}, "its steps don't follow each other in both operands"};
  const Dimension row = take_last(rows, batches), column = take_last(columns, batches);
  const Dimension step = steps.empty() ? Dimension{} : steps[0];
  if (batches.size() > kBatchesMax) return {{}, "its batches have more than two strides"};
  if (!has_unit(row, step, 0) || !has_unit(step, column, 1) || !is_known(column.strides[2], 1)) {
    return {{}, "a matrix has no rows or columns whose elements follow each other"};
  }
  batches.insert(batches.begin(), kBatchesMax - batches.size(), Dimension{});
  const Dimension* by_operand[kOperands][2] = {{&row, &step}, {&step, &column}, {&row, &column}};
  ProductLayout layout{form.a, form.b, {batches[0].size, batches[1].size, row.size, column.size, step.size}};
  for (size_t operand = 0; operand < kOperands; ++operand) {
    const Dimension* moved[] = {&batches[0], &batches[1], by_operand[operand][0], by_operand[operand][1]};
    for (const Dimension* each : moved) layout.numbers.push_back(each->strides[operand]);
  }
  return {std::move(layout), ""};
}

std::optional<int64_t> known_number(const LibraryNumber& number) {
  return number.sizes.empty() ? std::optional(number.factor) : std::nullopt;
}

}  // namespace baton::compiler_lite::schedule
