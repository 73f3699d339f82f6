#include "compiler-lite/codegen/fourier.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/points.hpp"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
using mlir::Location;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

// What a workgroup of several lines takes, so that several of them are on a multiprocessor.
constexpr int64_t kLocalBytes = 32 * 1024;
constexpr int64_t kLengthMax = int64_t{1} << 16;
constexpr int64_t kThreadsMax = 256, kThreadsWanted = 128;
constexpr int64_t kWorkgroupsWanted = 256;
constexpr int64_t kNeighbours = 8;  // Lines that lie side by side in memory: that many are read together at least.
constexpr int64_t kBanks = 32;      // Numbers that lie so far apart wait for each other.
// Numbers of a stage; where two stages do instead of three, more.
constexpr int64_t kRadixMax = 16, kWideRadixMax = 32, kPrimeMax = 13;
constexpr size_t kStagesMax = 4;

int64_t least_factor(int64_t number) {
  for (int64_t factor = 2; factor * factor <= number; ++factor) {
    if (number % factor == 0) return factor;
  }
  return number;
}

// The factors of `length`, `count` of them and none above `most`, whose largest one is the least; nothing where there are none.
llvm::SmallVector<int64_t> best_factors(int64_t length, size_t count, int64_t most) {
  if (count == 1) return length <= most ? llvm::SmallVector<int64_t>{length} : llvm::SmallVector<int64_t>{};
  llvm::SmallVector<int64_t> best;
  for (int64_t factor = 2; factor <= std::min(most, length); ++factor) {
    if (length % factor != 0) continue;
    llvm::SmallVector<int64_t> rest = best_factors(length / factor, count - 1, most);
    if (rest.empty()) continue;
    rest.push_back(factor);
    if (best.empty() || *llvm::max_element(rest) < *llvm::max_element(best)) best = std::move(rest);
  }
  return best;
}

llvm::SmallVector<int64_t> stages_of(int64_t length, mlir::Type element) {
  for (size_t count = 1; count <= kStagesMax; ++count) {
    const int64_t most = count == 2 && element.isF32() ? kWideRadixMax : kRadixMax;
    llvm::SmallVector<int64_t> stages = best_factors(length, count, most);
    if (!stages.empty()) return stages;
  }
  return {};
}

bool has_large_prime(int64_t length) {
  while (length > 1) {
    const int64_t factor = least_factor(length);
    if (factor > kPrimeMax) return true;
    length /= factor;
  }
  return false;
}

int64_t whole_banks(int64_t numbers) { return llvm::divideCeilSigned(numbers, kBanks) * kBanks; }

// What a workgroup keeps of `lines` lines between stages: what one writes another reads, and neither stands where the other does.
int64_t bytes_between(int64_t length, int64_t lines, size_t stages, mlir::Type element) {
  const auto memories = static_cast<int64_t>(std::min<size_t>(stages - 1, 2));
  return memories * 2 * whole_banks(length * lines) * element.getIntOrFloatBitWidth() / 8;
}

// A complex number; parts without a value are zero.
struct Complex {
  Value real, imaginary;
};

// e to the power of 2 * pi * i * part / whole.
std::array<double, 2> root_of_one(int64_t part, int64_t whole) {
  part %= whole;
  constexpr std::array<std::array<double, 2>, 4> kQuarters = {{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  if (4 * part % whole == 0) return kQuarters[static_cast<size_t>(4 * part / whole)];
  const double angle = 2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole);
  return {std::cos(angle), std::sin(angle)};
}

// Transforms of few numbers in registers.
class Registers {
 public:
  Registers(OpBuilder& builder, Location location, mlir::Type element, int64_t sign)
      : builder_(builder), location_(location), element_(element), sign_(sign) {}

  void transform(llvm::SmallVector<Complex>& numbers) {
    const auto count = static_cast<int64_t>(numbers.size());
    if (count == 1) return;
    const int64_t rows = count % 4 == 0 && count > 4 ? 4 : least_factor(count);
    if (rows == count) return transform_prime(numbers);
    // As `rows` rows: columns first, then what they give is turned and transformed along rows.
    const int64_t columns = count / rows;
    llvm::SmallVector<llvm::SmallVector<Complex>> turned(static_cast<size_t>(rows));
    for (int64_t column = 0; column < columns; ++column) {
      llvm::SmallVector<Complex> of_column;
      for (int64_t row = 0; row < rows; ++row)
        of_column.push_back(numbers[static_cast<size_t>(row * columns + column)]);
      transform(of_column);
      for (int64_t row = 0; row < rows; ++row) {
        const auto [cosine, sine] = root_of_one(row * column, count);
        const Complex number = of_column[static_cast<size_t>(row)];
        turned[static_cast<size_t>(row)].push_back(turn(number, cosine, static_cast<double>(sign_) * sine));
      }
    }
    for (int64_t row = 0; row < rows; ++row) {
      llvm::SmallVector<Complex>& of_row = turned[static_cast<size_t>(row)];
      transform(of_row);
      for (int64_t column = 0; column < columns; ++column) {
        numbers[static_cast<size_t>(row + rows * column)] = of_row[static_cast<size_t>(column)];
      }
    }
  }

  Complex multiply(Complex a, Complex b) {
    return {subtract(times(a.real, b.real), times(a.imaginary, b.imaginary)),
            add(times(a.real, b.imaginary), times(a.imaginary, b.real))};
  }

  Value scale(Value number, double factor) {
    if (!number || factor == 0) return {};
    if (factor == 1) return number;
    if (factor == -1) return builder_.create<arith::NegFOp>(location_, number);
    return times(number, builder_.create<arith::ConstantOp>(location_, builder_.getFloatAttr(element_, factor)));
  }

  Value or_zero(Value number) {
    return number ? number : builder_.create<arith::ConstantOp>(location_, builder_.getFloatAttr(element_, 0.0));
  }

 private:
  static constexpr auto kContract = arith::FastMathFlags::contract;

  Value add(Value a, Value b) {
    if (!a || !b) return a ? a : b;
    return builder_.create<arith::AddFOp>(location_, a, b, kContract);
  }
  Value subtract(Value a, Value b) {
    if (!b) return a;
    return a ? builder_.create<arith::SubFOp>(location_, a, b, kContract).getResult() : scale(b, -1);
  }
  Value times(Value a, Value b) {
    return a && b ? builder_.create<arith::MulFOp>(location_, a, b, kContract).getResult() : Value();
  }
  Complex add(Complex a, Complex b) { return {add(a.real, b.real), add(a.imaginary, b.imaginary)}; }
  Complex subtract(Complex a, Complex b) { return {subtract(a.real, b.real), subtract(a.imaginary, b.imaginary)}; }
  Complex scale(Complex a, double factor) { return {scale(a.real, factor), scale(a.imaginary, factor)}; }
  Complex turn(Complex a, double cosine, double sine) {
    return {subtract(scale(a.real, cosine), scale(a.imaginary, sine)),
            add(scale(a.real, sine), scale(a.imaginary, cosine))};
  }

  // Places that add up to the count belong together: the sum of their numbers is multiplied by cosines, the difference by sines.
  void transform_prime(llvm::SmallVector<Complex>& numbers) {
    const auto count = static_cast<int64_t>(numbers.size());
    const Complex first = numbers[0];
    if (count == 2) {
      const Complex second = numbers[1];
      numbers = {add(first, second), subtract(first, second)};
      return;
    }
    llvm::SmallVector<Complex> sums, differences;
    Complex all = first;
    for (int64_t k = 1; 2 * k < count; ++k) {
      const Complex near = numbers[static_cast<size_t>(k)], far = numbers[static_cast<size_t>(count - k)];
      sums.push_back(add(near, far));
      differences.push_back(subtract(near, far));
      all = add(all, sums.back());
    }
    numbers[0] = all;
    for (int64_t m = 1; 2 * m < count; ++m) {
      Complex even = first, odd = {};
      for (int64_t k = 1; 2 * k < count; ++k) {
        const auto [cosine, sine] = root_of_one(k * m, count);
        even = add(even, scale(sums[static_cast<size_t>(k - 1)], cosine));
        odd = add(odd, scale(differences[static_cast<size_t>(k - 1)], static_cast<double>(sign_) * sine));
      }
      const Complex turned = turn(odd, 0, 1);
      numbers[static_cast<size_t>(m)] = add(even, turned);
      numbers[static_cast<size_t>(count - m)] = subtract(even, turned);
    }
  }

  OpBuilder& builder_;
  Location location_;
  mlir::Type element_;
  int64_t sign_;
};

// Both parts of an array of numbers; real ones have no other part.
struct Parts {
  Value real, imaginary;
};

class KernelWriter {
 public:
  KernelWriter(mlir::func::FuncOp kernel, Parts given, Value roots, Parts made, const Fourier& fourier,
               OpBuilder builder)
      : kernel_(kernel),
        given_(given),
        roots_(roots),
        made_(made),
        fourier_(fourier),
        builder_(builder),
        location_(kernel.getLoc()) {
    const auto type = llvm::cast<mlir::MemRefType>(made.real.getType());
    element_ = type.getElementType();
    stages_ = stages_of(fourier.length, element_);
    neighbours_ = type.getDimSize(2);
    count_ = type.getDimSize(0) * neighbours_;
    lines_ = choose_lines();
  }

  // The number of workgroups.
  int64_t write() {
    set_threads();
    first_ =
        builder_.create<arith::MulIOp>(location_, make_workgroup_id(builder_, location_, 0), index(builder_, lines_));
    int64_t before = 1;  // The product of the stages' numbers so far.
    std::array<Parts, 2> memories;
    for (size_t i = 0; i + 1 < stages_.size() && i < 2; ++i) memories[i] = {allocate(), allocate()};
    for (size_t i = 0; i < stages_.size(); ++i) {
      const Parts* const from = i == 0 ? nullptr : &memories[(i - 1) % 2];
      const Parts* const to = i + 1 == stages_.size() ? nullptr : &memories[i % 2];
      write_stage(stages_[i], before, from, to);
      before *= stages_[i];
    }
    return llvm::divideCeilSigned(count_, lines_);
  }

 private:
  // Enough for the threads of a workgroup, and for reads of whole lines of memory; not so many that multiprocessors have nothing.
  int64_t choose_lines() const {
    const auto fits = [&](int64_t lines) {
      return bytes_between(fourier_.length, lines, stages_.size(), element_) <= kLocalBytes;
    };
    const int64_t threads = fourier_.length / *llvm::max_element(stages_);
    int64_t lines = 1;
    while (2 * lines <= count_ && fits(2 * lines)) {
      const bool is_narrow = neighbours_ > 1 && lines < std::min(neighbours_, kNeighbours);
      const bool are_few = lines * threads < kThreadsWanted && count_ / (2 * lines) >= kWorkgroupsWanted;
      if (!is_narrow && !are_few) break;
      lines *= 2;
    }
    return lines;
  }

  void set_threads() {
    const int64_t points = lines_ * fourier_.length / *llvm::min_element(stages_);
    const int64_t threads = std::min(kThreadsMax, llvm::divideCeilSigned(points, 32) * 32);
    kernel_->setAttr("workgroup_size", builder_.getIndexArrayAttr({threads, 1, 1}));
  }

  Value index(OpBuilder& builder, int64_t number) { return builder.create<arith::ConstantIndexOp>(location_, number); }
  Value add(OpBuilder& builder, Value a, Value b) { return builder.createOrFold<arith::AddIOp>(location_, a, b); }
  Value times(OpBuilder& builder, Value a, int64_t factor) {
    return builder.createOrFold<arith::MulIOp>(location_, a, index(builder, factor));
  }
  Value quotient(OpBuilder& builder, Value a, int64_t by) {
    return by == 1 ? a : builder.createOrFold<arith::DivUIOp>(location_, a, index(builder, by));
  }
  Value remainder(OpBuilder& builder, Value a, int64_t by) {
    return by == 1 ? index(builder, 0) : builder.createOrFold<arith::RemUIOp>(location_, a, index(builder, by));
  }
  Value allocate() {
    const auto type = mlir::MemRefType::get({whole_banks(fourier_.length * lines_)}, element_);
    return builder_.create<memref::AllocOp>(location_, type);
  }
  Value load(OpBuilder& builder, Value memory, mlir::ValueRange place) {
    return memory ? builder.create<memref::LoadOp>(location_, memory, place).getResult() : Value();
  }

  // A thread for each point of a stage: numbers `step` apart of one line.
  void write_stage(int64_t radix, int64_t before, const Parts* from, const Parts* to) {
    const int64_t step = fourier_.length / radix;
    for_points(builder_, location_, index(builder_, lines_ * step), [&](OpBuilder& body, Value point) {
      // What lies side by side in memory is side by side among threads.
      const bool is_dense = neighbours_ == 1;
      const Value line = is_dense ? quotient(body, point, step) : remainder(body, point, lines_);
      const Value first = is_dense ? remainder(body, point, step) : quotient(body, point, lines_);
      llvm::SmallVector<Complex> numbers;
      for (int64_t m = 0; m < radix; ++m) {
        const Value at = add(body, first, index(body, m * step));
        numbers.push_back(from ? read_local(body, *from, line, at) : read_operand(body, line, at));
      }
      Registers registers(body, location_, element_, fourier_.is_inverse ? 1 : -1);
      if (before > 1) turn(body, registers, numbers, first, before);
      registers.transform(numbers);
      const Value begin = to ? begin_of(body, first, before, radix) : first;
      for (int64_t m = 0; m < radix; ++m) {
        const Value at = add(body, begin, index(body, m * before));
        Complex number = numbers[static_cast<size_t>(m)];
        if (to) {
          write_local(body, *to, line, at, {registers.or_zero(number.real), registers.or_zero(number.imaginary)});
          continue;
        }
        const double scale = fourier_.is_inverse ? 1.0 / static_cast<double>(fourier_.length) : 1.0;
        number = {registers.scale(number.real, scale), registers.scale(number.imaginary, scale)};
        write_result(body, line, at, {registers.or_zero(number.real), registers.or_zero(number.imaginary)},
                     (m + 1) * before);
      }
    });
  }

  // Runs of `before` become runs of `radix` times as many: where number 0 of a thread's goes. In the last stage a line is one.
  Value begin_of(OpBuilder& body, Value first, int64_t before, int64_t radix) {
    const Value run = quotient(body, first, before);
    return add(body, times(body, run, before * radix), remainder(body, first, before));
  }

  // Number m by root m * (place in its run) of so many: those of powers of two are read, and the others are their products.
  void turn(OpBuilder& body, Registers& registers, llvm::SmallVector<Complex>& numbers, Value first, int64_t before) {
    const auto radix = static_cast<int64_t>(numbers.size());
    const bool is_last = before * radix == fourier_.length;
    const Value in_run = is_last ? first : remainder(body, first, before);
    const Value unit = times(body, in_run, fourier_.length / (before * radix));
    llvm::SmallVector<Complex> roots(numbers.size());
    for (int64_t m = 1; m < radix; ++m) {
      Complex& root = roots[static_cast<size_t>(m)];
      const auto highest = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(m)));
      if (m == highest) {
        const Value at = times(body, unit, m);
        root = {load(body, roots_, {index(body, 0), at}), load(body, roots_, {index(body, 1), at})};
      } else {
        root = registers.multiply(roots[static_cast<size_t>(highest)], roots[static_cast<size_t>(m - highest)]);
      }
      numbers[static_cast<size_t>(m)] = registers.multiply(numbers[static_cast<size_t>(m)], root);
    }
  }

  Value local_place(OpBuilder& builder, Value line, Value at) {
    const Value place = neighbours_ == 1 ? add(builder, times(builder, line, fourier_.length), at)
                                         : add(builder, times(builder, at, lines_), line);
    // What lies a multiple of all banks apart comes to stand in different ones.
    const Value bank = remainder(builder, quotient(builder, place, kBanks), kBanks);
    return builder.create<arith::XOrIOp>(location_, place, bank);
  }
  Complex read_local(OpBuilder& builder, const Parts& memory, Value line, Value at) {
    const Value place = local_place(builder, line, at);
    return {load(builder, memory.real, place), load(builder, memory.imaginary, place)};
  }
  void write_local(OpBuilder& builder, const Parts& memory, Value line, Value at, Complex number) {
    const Value place = local_place(builder, line, at);
    builder.create<memref::StoreOp>(location_, number.real, memory.real, place);
    builder.create<memref::StoreOp>(location_, number.imaginary, memory.imaginary, place);
  }

  bool has_partial_workgroup() const { return count_ % lines_ != 0; }
  llvm::SmallVector<Value> place_of(OpBuilder& builder, Value line, Value at) {
    return {quotient(builder, line, neighbours_), at, remainder(builder, line, neighbours_)};
  }

  // Threads without a line read the last one, and write none.
  Complex read_operand(OpBuilder& builder, Value line, Value at) {
    Value whole = add(builder, first_, line);
    if (has_partial_workgroup()) whole = builder.create<arith::MinUIOp>(location_, whole, index(builder, count_ - 1));
    const int64_t known = llvm::cast<mlir::MemRefType>(given_.real.getType()).getDimSize(1);
    if (known == fourier_.length) {
      const llvm::SmallVector<Value> place = place_of(builder, whole, at);
      return {load(builder, given_.real, place), load(builder, given_.imaginary, place)};
    }
    const Value is_known =
        builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ult, at, index(builder, known));
    const Value mirrored = builder.create<arith::SubIOp>(location_, index(builder, fourier_.length), at);
    const Value held = builder.create<arith::SelectOp>(location_, is_known, at, mirrored);
    const llvm::SmallVector<Value> place = place_of(builder, whole, held);
    Complex number = {load(builder, given_.real, place), load(builder, given_.imaginary, place)};
    if (number.imaginary) {
      const Value conjugate = builder.create<arith::NegFOp>(location_, number.imaginary);
      number.imaginary = builder.create<arith::SelectOp>(location_, is_known, number.imaginary, conjugate);
    }
    return number;
  }

  // `at` is below `end`.
  void write_result(OpBuilder& builder, Value line, Value at, Complex number, int64_t end) {
    const int64_t kept = llvm::cast<mlir::MemRefType>(made_.real.getType()).getDimSize(1);
    const Value whole = add(builder, first_, line);
    Value counts;
    const auto ask = [&](Value number_asked, int64_t limit) {
      const Value is_below =
          builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::ult, number_asked, index(builder, limit));
      counts = counts ? builder.create<arith::AndIOp>(location_, counts, is_below).getResult() : is_below;
    };
    if (has_partial_workgroup()) ask(whole, count_);
    if (end > kept) ask(at, kept);
    const auto store = [&](OpBuilder& inside) {
      const llvm::SmallVector<Value> place = place_of(inside, whole, at);
      inside.create<memref::StoreOp>(location_, number.real, made_.real, place);
      if (made_.imaginary) inside.create<memref::StoreOp>(location_, number.imaginary, made_.imaginary, place);
    };
    if (!counts) return store(builder);
    auto guarded = builder.create<mlir::scf::IfOp>(location_, counts, /*withElseRegion=*/false);
    OpBuilder inside = guarded.getThenBodyBuilder();
    store(inside);
  }

  mlir::func::FuncOp kernel_;
  Parts given_;
  Value roots_;
  Parts made_;
  Fourier fourier_;
  OpBuilder builder_;
  Location location_;
  mlir::Type element_;
  llvm::SmallVector<int64_t> stages_;
  int64_t neighbours_ = 1, count_ = 0, lines_ = 1;
  Value first_;  // Of the workgroup's lines.
};

bool is_lines(mlir::Type type, RankedTensorType like, llvm::ArrayRef<int64_t> lengths) {
  const auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getRank() == 3 &&
         tensor.getElementType() == like.getElementType() && tensor.getDimSize(0) == like.getDimSize(0) &&
         tensor.getDimSize(2) == like.getDimSize(2) && llvm::is_contained(lengths, tensor.getDimSize(1));
}

bool fits(const Fourier& fourier, mlir::FunctionType type) {
  const unsigned operands = type.getNumInputs(), results = type.getNumResults();
  const auto first = operands > 0 ? llvm::dyn_cast<RankedTensorType>(type.getInput(0)) : RankedTensorType();
  if (operands < 2 || operands > 3 || results < 1 || results > 2 || !first || first.getRank() != 3) return false;
  const mlir::Type element = first.getElementType();
  if ((!element.isF32() && !element.isF64()) || first.getNumElements() == 0) return false;
  const int64_t length = fourier.length, half = length / 2 + 1;
  for (unsigned i = 0; i + 1 < operands; ++i) {
    if (type.getInput(i) != first || !is_lines(first, first, {length, half})) return false;
  }
  if (type.getInput(operands - 1) != RankedTensorType::get({2, length}, element)) return false;
  for (const mlir::Type result : type.getResults()) {
    const auto made = llvm::dyn_cast<RankedTensorType>(result);
    if (result != type.getResult(0) || !made || made.getRank() != 3 || made.getDimSize(1) > length) return false;
    if (!is_lines(made, first, {made.getDimSize(1)}) || made.getNumElements() == 0) return false;
  }
  return true;
}

}  // namespace

std::optional<Fourier> find_fourier(mlir::Operation* function, mlir::FunctionType type) {
  const auto says = function->getAttrOfType<mlir::DenseI64ArrayAttr>(kFourier);
  if (!says || says.size() != 2 || says[0] < 2) return std::nullopt;
  const Fourier fourier = {says[0], says[1] != 0};
  return fits(fourier, type) ? std::optional(fourier) : std::nullopt;
}

bool takes_fourier(const Fourier& fourier, mlir::Type element, int64_t local_bytes) {
  if (fourier.length > kLengthMax || has_large_prime(fourier.length)) return false;
  const llvm::SmallVector<int64_t> stages = stages_of(fourier.length, element);
  return !stages.empty() && bytes_between(fourier.length, 1, stages.size(), element) <= local_bytes;
}

mlir::AffineMap make_fourier_kernel(mlir::func::FuncOp kernel, llvm::ArrayRef<Destination> destinations,
                                    const Fourier& fourier, unsigned symbol_count) {
  llvm::SmallVector<Value> operands;
  kernel.walk([&](mlir::bufferization::ToTensorOp op) { operands.push_back(op.getMemref()); });
  const Parts given = {operands[0], operands.size() == 3 ? operands[1] : Value()};
  const auto memory_of = [&](size_t i) {
    mlir::bufferization::MaterializeInDestinationOp write = destinations[i].write;
    return Value(write.getDest());
  };
  const Parts made = {memory_of(0), destinations.size() == 2 ? memory_of(1) : Value()};
  OpBuilder builder(kernel.getBody().front().getTerminator());
  KernelWriter writer(kernel, given, operands.back(), made, fourier, builder);
  const int64_t workgroups = writer.write();
  for (const Destination& destination : destinations) {
    mlir::bufferization::MaterializeInDestinationOp write = destination.write;
    write.erase();
  }
  return make_grid(kernel.getContext(), mlir::getAffineConstantExpr(workgroups, kernel.getContext()), symbol_count);
}

}  // namespace baton::compiler_lite::codegen
