#include "compiler-lite/codegen/tile_sizes.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "compiler-lite/codegen/product.hpp"
#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace linalg = mlir::linalg;

// Elements of work in a tile: some microseconds, where calling a kernel takes nanoseconds.
constexpr int64_t kTileWork = 32 * 1024;
// What operations may leave for the next ones in a tile: half of its memory (cpu/lower_bodies.cpp).
constexpr int64_t kTileBytes = 128 * 1024, kElementBytes = 8;
// Columns that are reduced side by side: their rows are read in runs of this many elements, or else most of a page that
// is opened for each row goes unread.
constexpr int64_t kColumnRun = 256;
// The same for a block of threads: a few accesses of 16 bytes for each.
constexpr int64_t kBlockWork = 4 * 1024;
constexpr int64_t kSquare = 64;  // Of as many elements.
// Elements of a line of the cache: a block that reads or writes runs of as many uses all of what passes.
constexpr int64_t kRun = 32;
// What a size of `?` is taken for.
constexpr int64_t kUnknownSize = 1024;
// A tile of a product: the packed panel of B (cpu/product.cpp) is read 16 times, and 512 x 512 gives 16 tiles.
constexpr int64_t kProductTile = 128;
// The same of few rows, whose matrix is read once: so many multiplications for a core's workgroup, of whole runs of columns
// where the matrix has its columns side by side.
constexpr int64_t kFewRowsWork = 256 * 1024, kFewRowsRun = 128, kFewRowsColumns = 512;
// Multiplications for which a core's workgroup takes several products of a batch.
constexpr int64_t kBatchWork = 512 * 1024;

// For blocks: small tiles give work to all of a GPU, large ones read memory less often.
constexpr int64_t kBlockProductTile = 64, kLargeBlockProductTile = 128;
// The same for products on tensor cores: rows and columns.
struct ProductTile {
  int64_t rows, columns;
};
constexpr ProductTile kHalfTile{64, 128}, kMiddleHalfTile{128, 128}, kLargeHalfTile{128, 256};
// Of sums that are summed in parts, which older devices keep in f32 beside the slices.
constexpr ProductTile kHalfTilesOfParts[] = {kHalfTile, {64, 64}, {128, 64}};
constexpr ProductTile kHalfTiles[] = {kHalfTile, {64, 64}, {64, 256}, kMiddleHalfTile, {128, 192}, kLargeHalfTile};
constexpr int64_t kEnoughTiles = 128;

// What a product on blocks costs, on an H200 (bench/results/2026-11-23-programs-gpu.md): multiplications of one block in a
// nanosecond, by the kind of its tile, the bytes that pass in one, and a further dispatch.
constexpr double kSmallRate = 117, kLargeRate = 163, kBytesRate = 3500, kDispatchNs = 2500;
// A tile's reads and writes should fit into the second-level cache.
constexpr int64_t kCachedBytes = 16 << 20;
constexpr double kCachedRate = 7000;
// One of halves (bench/results/2026-11-26-half-products.md): a multiprocessor waits for what it copies, a line of 64 steps
// of each row and column of a tile; and it begins a tile and writes its sums.
constexpr double kLineNs = 2.06, kSumNs = 0.1;
// Sums of fewer steps wait for memory, which many small tiles keep busy.
constexpr int64_t kShortSum = 256;
// Tiles that follow each other have the same columns, so many of them, where so the second-level cache sends less: it pays
// where sums are long and tiles large.
constexpr int64_t kRowsInTurn = 8, kLongSum = 2048, kLargeTileRows = 128;
// Parts have so many steps at least, in whole slices; a divided product is as much sooner at least.
constexpr int64_t kPartSteps = 256, kSliceSteps = 64, kMostParts = 32;
constexpr double kWorthIt = 0.9;
// Sides of results up to this are computed in smaller squares (gpu/product.cpp), which wait for what they read: a step takes so many
// nanoseconds however small the square is, of so many blocks on a multiprocessor at once. They have so many parts at most.
constexpr int64_t kSmallSide = 32, kBlocksAtOnce = 4, kMostSmallParts = 512;
constexpr double kStepNs = 35;
// What a block of f32 does of its rate without another one on its multiprocessor.
constexpr double kAlone = 0.85;
// Columns that are reduced, one by each thread. A row that is reduced by a whole block; shorter ones by its warps.
constexpr int64_t kBlockColumns = 256, kLongRow = 1024, kRowsOfBlock = 8;
constexpr int64_t kElementsOfBlock = 8 * 1024, kShortRowsOfBlock = 64, kVeryShortRowsOfBlock = 1024;
// What the rows of a block may leave in memory for the next operations.
constexpr int64_t kKeptBytesOfBlock = 16 * 1024;
// Columns whose steps the warps of a block share, where so there are more blocks: when there are fewer than that.
constexpr int64_t kSharedColumns = 32, kFewSharedColumns = 16, kFewBlocks = 512, kLongColumn = 256;

constexpr int kNone = -1;

int64_t known_size(int64_t size) {
  return mlir::ShapedType::isDynamic(size) ? kUnknownSize : std::max<int64_t>(size, 1);
}

// As blocks take it.
std::optional<ProductForm> block_form(linalg::LinalgOp product) {
  const std::optional<ProductForm> form = product_form(product);
  return form ? std::optional(with_row_groups(product, *form)) : form;
}

int64_t quotient_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How many steps of each of the loops that a tile's rows take along are in one of so many rows, which divide them.
llvm::SmallVector<int64_t> grouped_counts(int64_t rows, llvm::ArrayRef<int64_t> sizes, int64_t tile_rows) {
  llvm::SmallVector<int64_t> counts(sizes.size(), 1);
  for (size_t i = 0; i < sizes.size() && rows <= tile_rows; ++i) {
    counts[i] = std::min(sizes[i], tile_rows / rows);
    while (sizes[i] % counts[i] != 0) --counts[i];
    if (counts[i] < sizes[i]) break;
    rows *= counts[i];
  }
  return counts;
}

// A product as its tiles see it: how often there are so many rows and columns. Nothing where sizes are open.
struct TiledSizes {
  int64_t rows, columns, count;
  llvm::SmallVector<int64_t> groups = {};  // Sizes of loops that tiles of few rows take along; part of the count.

  int64_t whole_tiles(ProductTile tile) const { return rows / tile.rows * (columns / tile.columns) * count; }
  int64_t tiles(ProductTile tile) const {
    int64_t together = 1;
    for (const int64_t each : grouped_counts(rows, groups, tile.rows)) together *= each;
    return quotient_up(rows, tile.rows) * quotient_up(columns, tile.columns) * (count / together);
  }
  bool are_divided_by(ProductTile tile) const { return rows % tile.rows == 0 && columns % tile.columns == 0; }
};
std::optional<TiledSizes> tiled_sizes(linalg::LinalgOp op, const ProductForm& form) {
  const llvm::SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  TiledSizes sizes{ranges[form.rows], ranges[form.columns], 1};
  if (mlir::ShapedType::isDynamic(sizes.rows) || mlir::ShapedType::isDynamic(sizes.columns)) return std::nullopt;
  for (const auto* loops : {&form.batches, &form.other_rows, &form.other_columns}) {
    for (const unsigned loop : *loops) sizes.count *= known_size(ranges[loop]);
  }
  for (const unsigned loop : row_group_loops(op, form)) sizes.groups.push_back(ranges[loop]);
  return sizes;
}

int64_t steps_of(linalg::LinalgOp op, const ProductForm& form) {
  int64_t steps = 1;
  for (const unsigned loop : form.steps) steps *= known_size(op.getStaticLoopRanges()[loop]);
  return steps;
}

// Nanoseconds that all tiles of a product of halves take.
double half_cost(ProductTile tile, const TiledSizes& sizes, int64_t steps) {
  const int64_t rounds = quotient_up(sizes.tiles(tile), kMultiprocessors);
  const int64_t lines = quotient_up(steps, kSliceSteps) * (tile.rows + tile.columns);
  return static_cast<double>(rounds) *
         (static_cast<double>(lines) * kLineNs + static_cast<double>(tile.rows * tile.columns) * kSumNs);
}

ProductTile half_tile(linalg::LinalgOp op, const ProductForm& form, const std::optional<TiledSizes>& sizes,
                      int64_t steps) {
  const auto costs_less = [&](ProductTile a, ProductTile b) {
    return half_cost(a, *sizes, steps) < half_cost(b, *sizes, steps);
  };
  if (!sizes) return kHalfTile;
  if (!sums_at_once(op, form)) {
    return *std::min_element(std::begin(kHalfTilesOfParts), std::end(kHalfTilesOfParts), costs_less);
  }
  if (steps <= kShortSum) {
    const TiledSizes one{sizes->rows, sizes->columns, 1};
    if (one.whole_tiles(kLargeHalfTile) >= kEnoughTiles) return kLargeHalfTile;
    return one.whole_tiles(kMiddleHalfTile) >= kEnoughTiles ? kMiddleHalfTile : kHalfTile;
  }
  return *std::min_element(std::begin(kHalfTiles), std::end(kHalfTiles), costs_less);
}

// Threads with large squares of sums wait less for shared memory, where their tiles are whole and there are enough.
ProductTile block_tile(linalg::LinalgOp op, const ProductForm& form, const std::optional<TiledSizes>& sizes,
                       int64_t steps) {
  if (has_small_factors(op)) return half_tile(op, form, sizes, steps);
  constexpr ProductTile kSmall{kBlockProductTile, kBlockProductTile};
  constexpr ProductTile kLarge{kLargeBlockProductTile, kLargeBlockProductTile};
  const bool large = sizes && sizes->are_divided_by(kLarge) && sizes->whole_tiles(kLarge) >= kEnoughTiles;
  return large ? kLarge : kSmall;
}

// For each loop of the producers of `root`, the loop of `root` that it runs along.
class Correspondence {
 public:
  Correspondence(linalg::LinalgOp root, Tiling tiling)
      : tiling_(tiling), divisible_(root.getNumLoops(), true), product_loops_(root.getNumLoops(), kNone) {
    llvm::SmallVector<int> identity;
    const auto kinds = root.getIteratorTypesArray();
    for (unsigned i = 0; i < root.getNumLoops(); ++i) {
      identity.push_back(static_cast<int>(i));
      if (kinds[i] != mlir::utils::IteratorType::parallel) divisible_[i] = false;
    }
    visit(root, identity);
  }

  bool divisible(unsigned loop) const { return divisible_[loop]; }
  // The size of tile that a product among the producers wants along `loop`, or 0.
  int64_t product_tile(unsigned loop) const { return std::max<int64_t>(product_loops_[loop], 0); }
  bool has_product() const { return has_product_; }
  std::optional<TileOrder> order() const { return order_; }
  // Steps of reduction for one element of the result.
  int64_t work_per_element() const { return work_; }
  // The steps of a reduction read elements that follow each other.
  bool reduces_rows() const { return reduces_rows_; }
  // What the operations before the last one leave in memory for one step along the loops that are divided.
  int64_t kept_bytes() const { return kept_bytes_ * work_; }

 private:
  // Once for each way in which the operation's loops are the root's: any number of paths may lead to it.
  void visit(linalg::LinalgOp op, llvm::ArrayRef<int> loops) {
    if (!visited_.emplace(op.getOperation(), std::vector<int>(loops.begin(), loops.end())).second) return;
    note_reductions(op, loops);
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      auto producer = operand.get().getDefiningOp<linalg::LinalgOp>();
      if (!producer) continue;
      const bool is_kept = producer.getNumReductionLoops() == 0 && !llvm::isa<linalg::FillOp>(producer.getOperation());
      if (is_kept && seen_.insert(producer).second) kept_bytes_ += kElementBytes;
      const mlir::AffineMap read = op.getMatchingIndexingMap(&operand);
      const unsigned result = llvm::cast<mlir::OpResult>(operand.get()).getResultNumber();
      const mlir::AffineMap written = producer.getIndexingMapMatchingResult(producer->getResult(result));
      llvm::SmallVector<int> inner(producer.getNumLoops(), kNone);
      for (unsigned i = 0; i < read.getNumResults(); ++i) {
        const auto from = llvm::dyn_cast<mlir::AffineDimExpr>(read.getResult(i));
        const auto to = llvm::dyn_cast<mlir::AffineDimExpr>(written.getResult(i));
        if (from && to) inner[to.getPosition()] = loops[from.getPosition()];
      }
      visit(producer, inner);
    }
  }

  void note_reductions(linalg::LinalgOp op, llvm::ArrayRef<int> loops) {
    if (op.getNumReductionLoops() == 0) return;
    int64_t steps = 1;
    const llvm::SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    llvm::SmallVector<bool> varies(divisible_.size(), false);
    for (unsigned i = 0; i < loops.size(); ++i) {
      if (op.getIteratorTypesArray()[i] == mlir::utils::IteratorType::reduction) steps *= known_size(ranges[i]);
      if (loops[i] != kNone) varies[static_cast<size_t>(loops[i])] = true;
    }
    work_ = std::max(work_, steps);
    reduces_rows_ = reduces_rows_ || codegen::reduces_rows(op);
    for (size_t i = 0; i < varies.size(); ++i) divisible_[i] = divisible_[i] && varies[i];
    note_product(op, loops);
  }

  // A matrix that is made in the tile, and read once: its rows are reduced as any others, as many as the tile's memory keeps.
  static bool reads_kept(linalg::LinalgOp op) {
    return llvm::any_of(op.getDpsInputs(), [](mlir::Value input) { return input.getDefiningOp<linalg::LinalgOp>(); });
  }

  void note_product(linalg::LinalgOp op, llvm::ArrayRef<int> loops) {
    // For cores one row is a product when its matrix is read once (cpu/few_rows.cpp); for blocks it is a reduction.
    const bool cores = tiling_ == Tiling::kCores;
    std::optional<ProductForm> form = cores ? product_form_of_any_rows(op) : product_form(op);
    const std::optional<int64_t> few = cores && form ? few_rows(op, *form) : std::nullopt;
    if (few && reads_kept(op)) return;
    if (!few) form = cores ? product_form(op) : block_form(op);
    if (!form || (!cores && is_tiny(op, *form))) return;
    has_product_ = true;
    const llvm::SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    const std::optional<TiledSizes> sizes = cores ? std::nullopt : tiled_sizes(op, *form);
    const ProductTile tile =
        cores ? ProductTile{kProductTile, kProductTile} : block_tile(op, *form, sizes, steps_of(op, *form));
    const bool one_row = form->rows == ProductForm::kNone;
    const int64_t tile_columns = few ? columns_of_few_rows(op, *form, *few) : tile.columns;
    if (!one_row) want(loops, {form->rows}, tile.rows);
    want(loops, {form->columns}, tile_columns);
    // Cores take more where the matrices are small.
    int64_t rows = one_row ? 1 : known_size(ranges[form->rows]), columns = known_size(ranges[form->columns]);
    for (const auto& [others, size, whole] :
         {std::tuple(&form->other_rows, &rows, tile.rows), std::tuple(&form->other_columns, &columns, tile_columns)}) {
      for (const unsigned loop : llvm::reverse(*others)) {
        const int64_t count = cores ? std::clamp<int64_t>(whole / *size, 1, known_size(ranges[loop])) : 1;
        want(loops, {loop}, count);
        *size *= count;
      }
    }
    if (sizes) {
      const llvm::SmallVector<int64_t> counts = grouped_counts(sizes->rows, sizes->groups, tile.rows);
      for (const auto& [loop, count] : llvm::zip(row_group_loops(op, *form), counts)) want(loops, {loop}, count);
    }
    const bool in_turn =
        has_small_factors(op) && !cores && !one_row && tile.rows >= kLargeTileRows && steps_of(op, *form) >= kLongSum;
    if (in_turn && loops[form->rows] != kNone && loops[form->columns] != kNone) {
      order_ = {static_cast<unsigned>(loops[form->rows]), static_cast<unsigned>(loops[form->columns]), kRowsInTurn};
    }
    int64_t batch = cores ? batch_of_tile(std::min(rows, tile.rows) * std::min(columns, tile_columns),
                                          rows * columns * steps_of(op, *form))
                          : 1;
    for (const unsigned loop : llvm::reverse(form->batches)) {
      const int64_t count = std::min(batch, known_size(ranges[loop]));
      want(loops, {loop}, count);
      batch = std::max<int64_t>(1, batch / count);
    }
  }

  static int64_t columns_of_few_rows(linalg::LinalgOp op, const ProductForm& form, int64_t rows) {
    const mlir::AffineMap matrix = op.getIndexingMapsArray()[form.b];
    const bool side_by_side = matrix.getNumResults() > 0 &&
                              matrix.getResults().back() == mlir::getAffineDimExpr(form.columns, op.getContext());
    const int64_t run = side_by_side ? kFewRowsRun : 1;
    const int64_t columns = kFewRowsWork / std::max<int64_t>(1, rows * steps_of(op, form));
    return std::clamp<int64_t>(columns / run * run, run, kFewRowsColumns);
  }

  // Matrices of a batch that a core takes at once: their sums may stand in the tile's memory.
  static int64_t batch_of_tile(int64_t elements, int64_t work) {
    return std::max<int64_t>(1, std::min(kBatchWork / work, kTileBytes / (elements * kElementBytes)));
  }

  void want(llvm::ArrayRef<int> loops, llvm::ArrayRef<unsigned> which, int64_t size) {
    for (const unsigned i : which) {
      if (loops[i] != kNone) product_loops_[static_cast<size_t>(loops[i])] = static_cast<int>(size);
    }
  }

  Tiling tiling_;
  llvm::SmallVector<bool> divisible_;
  llvm::SmallVector<int> product_loops_;
  bool has_product_ = false, reduces_rows_ = false;
  int64_t work_ = 1, kept_bytes_ = 0;
  std::optional<TileOrder> order_;
  llvm::SmallPtrSet<mlir::Operation*, 8> seen_;
  std::set<std::pair<mlir::Operation*, std::vector<int>>> visited_;
};

}  // namespace

namespace {

// The points of all loops that are divided; nothing where a size is open.
std::optional<int64_t> divided_points(linalg::LinalgOp root, const Correspondence& correspondence) {
  int64_t points = 1;
  const llvm::SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  for (unsigned i = 0; i < root.getNumLoops(); ++i) {
    if (!correspondence.divisible(i)) continue;
    if (mlir::ShapedType::isDynamic(ranges[i])) return std::nullopt;
    points *= ranges[i];
  }
  return points;
}

// How many rows that single threads reduce a block takes: a few for each thread, where there are enough for all blocks.
int64_t very_short_rows(linalg::LinalgOp root, const Correspondence& correspondence) {
  const std::optional<int64_t> rows = divided_points(root, correspondence);
  if (!rows) return kVeryShortRowsOfBlock;
  const int64_t most = std::clamp(*rows / (2 * kMultiprocessors), kShortRowsOfBlock, kVeryShortRowsOfBlock);
  const int64_t kept = std::max<int64_t>(1, correspondence.kept_bytes());
  return std::clamp(std::min(kElementsOfBlock / correspondence.work_per_element(), kKeptBytesOfBlock / kept),
                    kRowsOfBlock, most);
}

// How many elements of a result a block of threads computes. What is reduced costs no threads of their own unless it
// lies in rows.
int64_t block_elements(linalg::LinalgOp root, const Correspondence& correspondence) {
  if (!correspondence.reduces_rows() && correspondence.work_per_element() > 1) {
    const std::optional<int64_t> columns = divided_points(root, correspondence);
    const bool few =
        columns && *columns < kFewBlocks * kBlockColumns && correspondence.work_per_element() >= kLongColumn;
    if (!few) return kBlockColumns;
    return *columns <= kMultiprocessors * kFewSharedColumns ? kFewSharedColumns : kSharedColumns;
  }
  if (!correspondence.reduces_rows()) return kBlockWork;
  if (correspondence.work_per_element() >= kLongRow) return 1;
  if (correspondence.work_per_element() <= kRowOfThread) return very_short_rows(root, correspondence);
  // A few lanes of a warp share one that is shorter than its accesses (gpu/wide_rows.hpp); with rows go others that are kept.
  const bool alone = correspondence.kept_bytes() == 0;
  return alone ? std::clamp(kElementsOfBlock / correspondence.work_per_element(), kRowsOfBlock, kShortRowsOfBlock)
               : kRowsOfBlock;
}

// The loop, other than the last one, whose steps follow each other in the memory of an operand; -1: none.
int turned_loop(linalg::LinalgOp op) {
  const auto last_loop = static_cast<int>(op.getNumLoops()) - 1;
  for (const mlir::AffineMap map : op.getIndexingMapsArray()) {
    if (map.getNumResults() < 2) continue;
    const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResults().back());
    if (loop && static_cast<int>(loop.getPosition()) != last_loop) return static_cast<int>(loop.getPosition());
  }
  return kNone;
}

// The same, of an operand that is read along the last loop, too: turned round, and not only repeated.
int crossed_loop(linalg::LinalgOp op) {
  const mlir::AffineExpr last_loop = mlir::getAffineDimExpr(op.getNumLoops() - 1, op.getContext());
  for (const mlir::AffineMap map : op.getIndexingMapsArray()) {
    if (map.getNumResults() < 2 || !llvm::is_contained(map.getResults().drop_back(), last_loop)) continue;
    if (const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResults().back())) {
      return static_cast<int>(loop.getPosition());
    }
  }
  return kNone;
}

// How the input with most dimensions is read; null when no input has dimensions.
mlir::AffineMap widest_input(linalg::LinalgOp op) {
  mlir::AffineMap widest;
  for (mlir::OpOperand* input : op.getDpsInputOperands()) {
    const mlir::AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() > (widest ? widest.getNumResults() : 0)) widest = map;
  }
  return widest;
}

// Loops from the last one on; of blocks that reduce columns that one comes first along which these lie side by side.
llvm::SmallVector<unsigned> order_of_tiling(linalg::LinalgOp root, const Correspondence& correspondence, bool blocks) {
  llvm::SmallVector<unsigned> order = llvm::to_vector(llvm::reverse(llvm::seq(0u, root.getNumLoops())));
  const mlir::AffineMap widest = widest_input(root);
  if (!blocks || !widest || correspondence.has_product() || root.getNumReductionLoops() == 0) return order;
  const auto side_by_side = llvm::dyn_cast<mlir::AffineDimExpr>(widest.getResults().back());
  if (!side_by_side || !correspondence.divisible(side_by_side.getPosition())) return order;
  llvm::erase(order, side_by_side.getPosition());
  order.insert(order.begin(), side_by_side.getPosition());
  return order;
}

// Of a loop that goes round `range` times: about so many turns, in parts of one size where some divide it.
int64_t part_of(int64_t range, int64_t turns) {
  if (mlir::ShapedType::isDynamic(range) || range <= turns) return turns;
  for (int64_t part = turns; 2 * part > turns; --part) {
    if (range % part == 0) return part;
  }
  return turns;
}

// A block's tile where a square would be empty for the most part, as one of three channels: it holds a run of what is read
// and a run of what is written, each as long as a line, and grows along what is written.
llvm::SmallVector<int64_t> tile_of_runs(linalg::LinalgOp root, llvm::ArrayRef<unsigned> read) {
  const llvm::SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  llvm::SmallVector<int64_t> tile(ranges.size(), 1);
  const auto hold_run = [&](llvm::ArrayRef<unsigned> loops) {
    int64_t run = 1;
    for (size_t i = loops.size(); i-- > 0 && run < kRun;) {
      const int64_t range = known_size(ranges[loops[i]]);
      tile[loops[i]] = std::max(tile[loops[i]], std::min(range, quotient_up(kRun, run)));
      run *= tile[loops[i]];
      if (tile[loops[i]] < range) return;
    }
  };
  const llvm::SmallVector<unsigned> written = llvm::to_vector(llvm::seq(0u, root.getNumLoops()));
  hold_run(read);
  hold_run(written);
  int64_t left = kBlockWork;
  for (const int64_t size : tile) left /= size;
  for (size_t i = tile.size(); i-- > 0 && left > 1;) {
    const int64_t before = tile[i];
    const bool whole = known_size(ranges[i]) <= 2 * before * left;
    tile[i] = whole ? known_size(ranges[i]) : std::max(before, part_of(ranges[i], before * left));
    left = left * before / tile[i];
  }
  return tile;
}

// The loops along which the operand whose steps follow each other with those of `turned` is read; none where it is read
// otherwise than by loops.
llvm::SmallVector<unsigned> loops_of_turned(linalg::LinalgOp op, unsigned turned) {
  for (const mlir::AffineMap map : op.getIndexingMapsArray()) {
    if (map.getNumResults() < 2 || map.getResults().back() != mlir::getAffineDimExpr(turned, op.getContext())) continue;
    llvm::SmallVector<unsigned> loops;
    for (const mlir::AffineExpr result : map.getResults()) {
      const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(result);
      if (!loop) return {};
      loops.push_back(loop.getPosition());
    }
    return loops;
  }
  return {};
}

// Elements that are written along rows and read along columns, or the other way round: in squares, of which the cache
// keeps the lines until all of them is used. A core takes several squares where one is little work.
bool tile_by_squares(linalg::LinalgOp root, const Correspondence& correspondence, Tiling tiling,
                     llvm::SmallVector<int64_t>& tiles) {
  const bool cores = tiling == Tiling::kCores;
  if (correspondence.work_per_element() > 1 || tiles.empty()) return false;
  const int turned = cores ? crossed_loop(root) : turned_loop(root);
  const auto last = static_cast<unsigned>(tiles.size() - 1);
  if (turned == kNone || !correspondence.divisible(last) || !correspondence.divisible(static_cast<unsigned>(turned))) {
    return false;
  }
  const llvm::SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  const int64_t shorter = std::min(known_size(ranges[last]), known_size(ranges[static_cast<size_t>(turned)]));
  const llvm::SmallVector<unsigned> read = loops_of_turned(root, static_cast<unsigned>(turned));
  if (!cores && shorter < kShortSide && !read.empty()) {
    const llvm::SmallVector<int64_t> runs = tile_of_runs(root, read);
    for (unsigned i = 0; i <= last; ++i) {
      const bool whole = !mlir::ShapedType::isDynamic(ranges[i]) && runs[i] >= ranges[i];
      tiles[i] = whole || !correspondence.divisible(i) ? 0 : runs[i];
    }
    return true;
  }
  const auto in_square = [&](unsigned loop) { return loop == last || static_cast<int>(loop) == turned; };
  int64_t others = 1;
  if (cores) {
    const auto side = [&](unsigned loop) { return std::min(kSquare, known_size(ranges[loop])); };
    others = kTileWork / (side(last) * side(static_cast<unsigned>(turned)));
  }
  for (unsigned i = last + 1; i-- > 0;) {
    const int64_t tile = in_square(i) ? kSquare : std::min(others, known_size(ranges[i]));
    if (!in_square(i)) others = std::max<int64_t>(1, others / tile);
    const bool whole = !mlir::ShapedType::isDynamic(ranges[i]) && tile >= ranges[i];
    tiles[i] = whole || !correspondence.divisible(i) ? 0 : tile;
  }
  return true;
}

}  // namespace

bool reduces_rows(linalg::LinalgOp op) {
  const mlir::AffineMap widest = widest_input(op);
  const auto reduces = [&](unsigned loop) {
    return op.getIteratorTypesArray()[loop] == mlir::utils::IteratorType::reduction;
  };
  if (!widest) return reduces(op.getNumLoops() - 1);
  bool is_moved = false, is_reduced = false;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!widest.getResults().back().isFunctionOfDim(loop)) continue;
    (reduces(loop) ? is_reduced : is_moved) = true;
  }
  return is_reduced && !is_moved;
}

llvm::SmallVector<bool> divisible_loops(linalg::LinalgOp root) {
  const Correspondence correspondence(root, Tiling::kBlocks);
  llvm::SmallVector<bool> divisible;
  for (unsigned i = 0; i < root.getNumLoops(); ++i) divisible.push_back(correspondence.divisible(i));
  return divisible;
}

TileSizes choose_tile_sizes(linalg::LinalgOp root, Tiling tiling) {
  const bool blocks = tiling == Tiling::kBlocks;
  const Correspondence correspondence(root, tiling);
  const llvm::SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  llvm::SmallVector<int64_t> tiles(ranges.size(), 0);
  if (tile_by_squares(root, correspondence, tiling, tiles)) return {tiles, std::nullopt};
  int64_t budget = blocks ? block_elements(root, correspondence) : kTileWork / correspondence.work_per_element();
  if (!blocks && !correspondence.has_product() && correspondence.work_per_element() > 1) {
    budget = std::min(budget, kTileBytes / std::max<int64_t>(1, correspondence.kept_bytes()));
    if (!correspondence.reduces_rows()) budget = std::max(budget, kColumnRun);
  }
  budget = std::max<int64_t>(1, budget);
  const bool single = ranges.size() == 1;
  for (const unsigned loop : order_of_tiling(root, correspondence, blocks)) {
    if (!correspondence.divisible(loop)) continue;
    int64_t tile = budget;
    if (correspondence.has_product()) {
      tile = std::max<int64_t>(1, correspondence.product_tile(loop));
    } else if (!single) {
      tile = std::min(budget, known_size(ranges[loop]));
      // Of one size, whose points threads number without divisions.
      if (blocks && correspondence.work_per_element() == 1) tile = part_of(ranges[loop], tile);
      budget = std::max<int64_t>(1, budget / tile);
    }
    const bool whole = !mlir::ShapedType::isDynamic(ranges[loop]) && tile >= ranges[loop];
    tiles[loop] = whole ? 0 : tile;
  }
  return {tiles, correspondence.order()};
}

namespace {

bool is_small(const TiledSizes& sizes) { return sizes.rows <= kSmallSide && sizes.columns <= kSmallSide; }

// The same of f32.
double cost_of_large_elements(ProductTile tile, const TiledSizes& sizes, int64_t steps) {
  const int64_t rounds = quotient_up(sizes.tiles(tile), kMultiprocessors);
  if (is_small(sizes)) {
    const double multiplied = static_cast<double>(rounds * kSmallSide * kSmallSide) / kSmallRate;
    return static_cast<double>(steps) *
           std::max(multiplied, static_cast<double>(quotient_up(rounds, kBlocksAtOnce)) * kStepNs);
  }
  double rate = tile.rows == kLargeBlockProductTile ? kLargeRate : kSmallRate;
  if (rounds == 1) rate *= kAlone;
  return static_cast<double>(rounds * steps * tile.rows * tile.columns) / rate;
}

// Nanoseconds, when each of so many parts computes the tiles of its steps and the parts are summed afterwards.
double cost_of(linalg::LinalgOp product, const ProductForm& form, TiledSizes sizes, int64_t steps, int64_t parts) {
  const int64_t elements = sizes.rows * sizes.columns * sizes.count;
  sizes.count *= parts;
  const int64_t steps_of_part = steps / parts;
  const ProductTile tile = block_tile(product, form, sizes, steps_of_part);
  const double multiplied = has_small_factors(product) ? half_cost(tile, sizes, steps_of_part)
                                                       : cost_of_large_elements(tile, sizes, steps_of_part);
  if (parts == 1) return multiplied;
  const int64_t bytes = parts * elements * 4;
  const double rate = bytes <= kCachedBytes ? kCachedRate : kBytesRate;
  return multiplied + kDispatchNs + static_cast<double>(2 * bytes) / rate;
}

}  // namespace

int64_t product_parts(linalg::LinalgOp product) {
  const std::optional<ProductForm> form = block_form(product);
  const std::optional<TiledSizes> sizes = form ? tiled_sizes(product, *form) : std::nullopt;
  if (!sizes || form->steps.size() != 1) return 1;
  const llvm::SmallVector<int64_t> ranges = product.getStaticLoopRanges();
  if (llvm::any_of(ranges, mlir::ShapedType::isDynamic)) return 1;
  const int64_t steps = ranges[form->steps[0]];
  int64_t best = 1;
  double least = cost_of(product, *form, *sizes, steps, 1) * kWorthIt;
  const int64_t most = !has_small_factors(product) && is_small(*sizes) ? kMostSmallParts : kMostParts;
  for (int64_t parts = 2; parts <= std::min(most, steps / kPartSteps); ++parts) {
    if (steps % (parts * kSliceSteps) != 0) continue;
    const double cost = cost_of(product, *form, *sizes, steps, parts);
    if (cost < least) best = parts, least = cost;
  }
  return best;
}

LoopParts product_loop_parts(linalg::LinalgOp product, llvm::function_ref<bool(unsigned)> may_be_divided) {
  const std::optional<ProductForm> form = block_form(product);
  const std::optional<TiledSizes> sizes = form ? tiled_sizes(product, *form) : std::nullopt;
  const llvm::SmallVector<int64_t> ranges = product.getStaticLoopRanges();
  LoopParts best;
  if (!sizes || llvm::any_of(ranges, mlir::ShapedType::isDynamic)) return best;
  const int64_t steps = steps_of(product, *form);
  double least = cost_of(product, *form, *sizes, steps, 1) * kWorthIt;
  for (const unsigned loop : form->steps) {
    if (!may_be_divided(loop)) continue;
    for (int64_t parts = 2; parts <= std::min({kMostParts, ranges[loop], steps / kPartSteps}); ++parts) {
      if (ranges[loop] % parts != 0) continue;
      const double cost = cost_of(product, *form, *sizes, steps, parts);
      if (cost < least) best = {loop, parts}, least = cost;
    }
  }
  return best;
}

}  // namespace baton::compiler_lite::codegen
