#include "compiler-lite/codegen/sort.hpp"

#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/points.hpp"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
using mlir::Location;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int64_t kTileBytes = 16 * 1024;
constexpr int64_t kTileMin = 256;  // Numbers; fewer leave threads without any.
constexpr unsigned kTileBits = 3;  // Bits of which a thread holds all numbers of a tile.
constexpr int64_t kThreadsMax = 256;
constexpr int64_t kBankBytes =
    128;  // Numbers that lie so far apart wait for each other, so each such line has room for one more.

unsigned log2_of(int64_t size) { return llvm::Log2_64(static_cast<uint64_t>(size)); }
int64_t row_of(mlir::ShapedType rows) { return rows.getShape().back(); }
int64_t bytes_of(mlir::Type element) { return element.getIntOrFloatBitWidth() / 8; }

// Of a row, or of as many whole rows as fit: a power of two.
int64_t tile_of(mlir::ShapedType rows) {
  const int64_t most = kTileBytes / bytes_of(rows.getElementType());
  int64_t tile = std::min(row_of(rows), most), left = rows.getNumElements() / row_of(rows);
  for (; left % 2 == 0 && 2 * tile <= most; left /= 2) tile *= 2;
  return tile;
}

// Steps that follow each other, of bits that are near enough.
std::vector<SortSteps> by_window(const SortSteps& steps, unsigned bits) {
  std::vector<SortSteps> windows;
  unsigned low = 0, high = 0;
  for (const SortStep& step : steps) {
    const unsigned new_low = std::min(low, step.bit), new_high = std::max(high, step.bit);
    if (windows.empty() || new_high - new_low >= bits) {
      windows.emplace_back();
      low = high = step.bit;
    } else {
      low = new_low;
      high = new_high;
    }
    windows.back().push_back(step);
  }
  return windows;
}

// One window's steps, by a thread for each 2^bits numbers.
class Window {
 public:
  Window(const SortSteps& steps, unsigned bits, int64_t count, unsigned row_bits) : steps_(steps), row_bits_(row_bits) {
    unsigned low = steps.front().bit;
    for (const SortStep& step : steps) low = std::min(low, step.bit);
    bits_ = std::min(bits, log2_of(count));
    low_ = std::min(low, log2_of(count) - bits_);
  }

  int64_t numbers() const { return int64_t{1} << bits_; }
  unsigned low() const { return low_; }

  // `first`: the place of a thread's first number; `numbers` become those that stand there afterwards.
  void exchange(OpBuilder& builder, Location location, Value first, llvm::SmallVector<Value>& numbers) const {
    for (size_t i = 0; i < steps_.size();) {
      size_t end = i;
      while (end < steps_.size() && steps_[end].run == steps_[i].run) ++end;
      const unsigned run = steps_[i].run;
      const bool is_last = run == row_bits_, is_mine = run >= low_ && run < low_ + bits_;
      // A thread's numbers that all stand in one run: backwards is the order of the complements.
      const Value turned = is_last || is_mine ? Value() : mask(builder, location, first, run, numbers[0].getType());
      turn(builder, location, turned, numbers);
      const size_t down = !is_last && is_mine ? size_t{1} << (run - low_) : 0;
      for (; i < end; ++i) step(builder, location, steps_[i].bit, down, numbers);
      turn(builder, location, turned, numbers);
    }
  }

 private:
  Value mask(OpBuilder& builder, Location location, Value first, unsigned run, mlir::Type type) const {
    const Value bit = builder.create<arith::ConstantIndexOp>(location, int64_t{1} << run);
    const Value none = builder.create<arith::ConstantIndexOp>(location, 0);
    const Value set = builder.create<arith::AndIOp>(location, first, bit);
    const Value is_set = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne, set, none);
    return builder.create<arith::ExtSIOp>(location, type, is_set);
  }

  static void turn(OpBuilder& builder, Location location, Value turned, llvm::SmallVector<Value>& numbers) {
    if (!turned) return;
    for (Value& number : numbers) number = builder.create<arith::XOrIOp>(location, number, turned);
  }

  // Of the numbers of a thread with the bit `down` the larger one comes first.
  void step(OpBuilder& builder, Location location, unsigned bit, size_t down, llvm::SmallVector<Value>& numbers) const {
    const size_t distance = size_t{1} << (bit - low_);
    for (size_t i = 0; i < numbers.size(); ++i) {
      if ((i & distance) != 0) continue;
      const Value a = numbers[i], b = numbers[i | distance];
      const Value smaller = builder.create<arith::MinSIOp>(location, a, b);
      const Value larger = builder.create<arith::MaxSIOp>(location, a, b);
      const bool is_down = (i & down) != 0;
      numbers[i] = is_down ? larger : smaller;
      numbers[i | distance] = is_down ? smaller : larger;
    }
  }

  const SortSteps& steps_;
  unsigned row_bits_, bits_ = 0, low_ = 0;
};

class KernelWriter {
 public:
  KernelWriter(mlir::func::FuncOp kernel, Value memory, Location location, OpBuilder builder)
      : kernel_(kernel), memory_(memory), builder_(builder), location_(location) {}

  // The number of workgroups.
  int64_t write(const SortSteps& steps) {
    const auto type = llvm::cast<mlir::MemRefType>(memory_.getType());
    row_bits_ = log2_of(row_of(type));
    count_ = type.getNumElements();
    row_ = row_of(type);
    const int64_t tile = tile_of(type);
    unsigned highest = 0;
    for (const SortStep& step : steps) highest = std::max(highest, step.bit);
    return highest < log2_of(tile) ? write_tile(steps, tile) : write_strides(steps);
  }

 private:
  Value index(int64_t number) { return builder_.create<arith::ConstantIndexOp>(location_, number); }
  Value add(Value a, Value b) { return builder_.createOrFold<arith::AddIOp>(location_, a, b); }

  void set_threads(int64_t threads) { kernel_->setAttr("workgroup_size", builder_.getIndexArrayAttr({threads, 1, 1})); }

  // The row of a number, and its place there.
  llvm::SmallVector<Value> place_of(OpBuilder& builder, Value number) {
    const Value row = builder.create<arith::ConstantIndexOp>(location_, row_);
    return {builder.createOrFold<arith::DivUIOp>(location_, number, row),
            builder.createOrFold<arith::RemUIOp>(location_, number, row)};
  }

  // `number` with room for `bits` zeros above bit `low`.
  Value spread(OpBuilder& builder, Value number, unsigned low, unsigned bits) {
    const auto constant = [&](int64_t value) { return builder.create<arith::ConstantIndexOp>(location_, value); };
    const Value beneath = builder.create<arith::AndIOp>(location_, number, constant((int64_t{1} << low) - 1));
    const Value above = builder.create<arith::ShRUIOp>(location_, number, constant(low));
    const Value moved = builder.create<arith::ShLIOp>(location_, above, constant(int64_t{low} + bits));
    return builder.create<arith::OrIOp>(location_, moved, beneath);
  }

  int64_t write_strides(const SortSteps& steps) {
    const Window window(steps, kSortBitsMax, row_, row_bits_);
    const int64_t threads = count_ / window.numbers(), of_workgroup = std::min(threads, kThreadsMax);
    set_threads(of_workgroup);
    const Value first =
        builder_.create<arith::MulIOp>(location_, make_workgroup_id(builder_, location_, 0), index(of_workgroup));
    const int64_t workgroups = llvm::divideCeilSigned(threads, of_workgroup);
    const Value rest = builder_.create<arith::SubIOp>(location_, index(threads), first);
    for_points(builder_, location_, builder_.create<arith::MinUIOp>(location_, rest, index(of_workgroup)),
               [&](OpBuilder& body, Value thread) {
                 const Value number = body.create<arith::AddIOp>(location_, first, thread);
                 const Value begin = spread(body, number, window.low(), log2_of(window.numbers()));
                 const llvm::SmallVector<Value> place = place_of(body, begin);
                 exchange(
                     body, window, place[1],
                     [&](int64_t i) {
                       const Value step = body.create<arith::ConstantIndexOp>(location_, i << window.low());
                       const Value column = body.createOrFold<arith::AddIOp>(location_, place[1], step);
                       return llvm::SmallVector<Value>{place[0], column};
                     },
                     memory_);
               });
    return workgroups;
  }

  void exchange(OpBuilder& body, const Window& window, Value first,
                llvm::function_ref<llvm::SmallVector<Value>(int64_t)> place_of_number, Value memory) {
    llvm::SmallVector<Value> numbers;
    llvm::SmallVector<llvm::SmallVector<Value>> places;
    for (int64_t i = 0; i < window.numbers(); ++i) {
      places.push_back(place_of_number(i));
      numbers.push_back(body.create<memref::LoadOp>(location_, memory, places.back()));
    }
    window.exchange(body, location_, first, numbers);
    for (size_t i = 0; i < numbers.size(); ++i) {
      body.create<memref::StoreOp>(location_, numbers[i], memory, places[i]);
    }
  }

  int64_t write_tile(const SortSteps& steps, int64_t tile) {
    set_threads(std::min(kThreadsMax, std::max<int64_t>(32, tile >> kTileBits)));
    const mlir::Type element = llvm::cast<mlir::MemRefType>(memory_.getType()).getElementType();
    line_ = kBankBytes / bytes_of(element);
    const Value held =
        builder_.create<memref::AllocOp>(location_, mlir::MemRefType::get({tile + tile / line_}, element));
    const Value first =
        builder_.create<arith::MulIOp>(location_, make_workgroup_id(builder_, location_, 0), index(tile));
    for_points(builder_, location_, index(tile), [&](OpBuilder& body, Value at) {
      const Value number = body.create<arith::AddIOp>(location_, first, at);
      const Value read = body.create<memref::LoadOp>(location_, memory_, place_of(body, number));
      body.create<memref::StoreOp>(location_, read, held, place_in_tile(body, at));
    });
    for (const SortSteps& each : by_window(steps, kTileBits)) {
      const Window window(each, kTileBits, tile, row_bits_);
      for_points(builder_, location_, index(tile / window.numbers()), [&](OpBuilder& body, Value thread) {
        const Value begin = spread(body, thread, window.low(), log2_of(window.numbers()));
        const Value number = body.create<arith::AddIOp>(location_, first, begin);
        exchange(
            body, window, place_of(body, number)[1],
            [&](int64_t i) {
              const Value step = body.create<arith::ConstantIndexOp>(location_, i << window.low());
              return llvm::SmallVector<Value>{
                  place_in_tile(body, body.createOrFold<arith::AddIOp>(location_, begin, step))};
            },
            held);
      });
    }
    for_points(builder_, location_, index(tile), [&](OpBuilder& body, Value at) {
      const Value number = body.create<arith::AddIOp>(location_, first, at);
      const Value sorted = body.create<memref::LoadOp>(location_, held, place_in_tile(body, at));
      body.create<memref::StoreOp>(location_, sorted, memory_, place_of(body, number));
    });
    return count_ / tile;
  }

  Value place_in_tile(OpBuilder& builder, Value at) {
    const Value line = builder.create<arith::ConstantIndexOp>(location_, line_);
    return builder.create<arith::AddIOp>(location_, at, builder.create<arith::DivUIOp>(location_, at, line));
  }

  mlir::func::FuncOp kernel_;
  Value memory_;
  OpBuilder builder_;
  Location location_;
  unsigned row_bits_ = 0;
  int64_t count_ = 0, row_ = 0, line_ = 0;
};

}  // namespace

mlir::DenseI64ArrayAttr write_sort_steps(OpBuilder& builder, const SortSteps& steps) {
  llvm::SmallVector<int64_t> numbers;
  for (const SortStep& step : steps) numbers.append({step.run, step.bit});
  return builder.getDenseI64ArrayAttr(numbers);
}

SortSteps read_sort_steps(mlir::DenseI64ArrayAttr steps) {
  SortSteps read;
  for (llvm::ArrayRef<int64_t> rest = steps.asArrayRef(); rest.size() >= 2; rest = rest.drop_front(2)) {
    read.push_back({static_cast<unsigned>(rest[0]), static_cast<unsigned>(rest[1])});
  }
  return read;
}

bool takes_sort(RankedTensorType rows) {
  const mlir::Type element = rows.getElementType();
  if (!rows.hasStaticShape() || rows.getRank() != 2 || rows.getNumElements() == 0) return false;
  if (!element.isInteger(32) && !element.isInteger(64)) return false;
  return llvm::isPowerOf2_64(static_cast<uint64_t>(row_of(rows))) && row_of(rows) > 1 && tile_of(rows) >= kTileMin;
}

std::vector<SortSteps> plan_sort(RankedTensorType rows) {
  const unsigned bits = log2_of(row_of(rows)), of_tile = log2_of(tile_of(rows));
  std::vector<SortSteps> kernels(1);
  for (unsigned run = 1; run <= bits; ++run) {
    SortSteps apart, in_tile;
    for (unsigned bit = run; bit-- > 0;) (bit < of_tile ? in_tile : apart).push_back({run, bit});
    for (SortSteps& each : by_window(apart, kSortBitsMax)) kernels.push_back(std::move(each));
    if (!apart.empty()) kernels.emplace_back();
    kernels.back().insert(kernels.back().end(), in_tile.begin(), in_tile.end());
  }
  return kernels;
}

mlir::FailureOr<mlir::AffineMap> make_sort_kernel(mlir::func::FuncOp kernel, const Destination& destination,
                                                  const SortSteps& steps, unsigned symbol_count) {
  mlir::bufferization::MaterializeInDestinationOp write = destination.write;
  KernelWriter writer(kernel, write.getDest(), kernel.getLoc(), OpBuilder(write));
  const int64_t workgroups = writer.write(steps);
  write.erase();
  return make_grid(kernel.getContext(), mlir::getAffineConstantExpr(workgroups, kernel.getContext()), symbol_count);
}

}  // namespace baton::compiler_lite::codegen
