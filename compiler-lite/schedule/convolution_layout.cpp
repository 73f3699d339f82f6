#include "compiler-lite/schedule/convolution_layout.hpp"

#include <algorithm>
#include <array>

#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/schedule/libraries.hpp"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::AffineExpr;
using mlir::AffineMap;
using mlir::Operation;
using mlir::Value;
using Path = ConvolutionLayout::Path;

constexpr unsigned kNone = ~0u;
constexpr size_t kSpatialMax = 3;

mlir::RankedTensorType tensor_of(Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()); }

int64_t stride_of(mlir::RankedTensorType type, unsigned dimension) {
  int64_t stride = 1;
  for (unsigned d = dimension + 1; d < type.getRank(); ++d) stride *= type.getDimSize(d);
  return stride;
}

bool is_zero(Value value) {
  return value && (mlir::matchPattern(value, mlir::m_AnyZeroFloat()) || mlir::matchPattern(value, mlir::m_Zero()));
}
bool is_filled_with_zeros(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>()) return is_zero(fill.getInputs()[0]);
  mlir::DenseElementsAttr elements;
  if (!mlir::matchPattern(value, mlir::m_Constant(&elements)) || !elements.isSplat()) return false;
  const auto number = llvm::dyn_cast<mlir::FloatAttr>(elements.getSplatValue<mlir::Attribute>());
  return number && number.getValue().isPosZero();
}

// Element by element from one tensor, each where a map says; null where it computes something.
linalg::LinalgOp as_copy(Operation* op) {
  if (auto transpose = llvm::dyn_cast<linalg::TransposeOp>(op)) return transpose;
  auto generic = llvm::dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 || generic->getNumResults() != 1) return {};
  if (generic.getNumReductionLoops() != 0 || !generic.hasPureTensorSemantics()) return {};
  const auto yielded = llvm::dyn_cast<mlir::BlockArgument>(generic.getBody()->getTerminator()->getOperand(0));
  if (!yielded || yielded.getOwner() != generic.getBody() || yielded.getArgNumber() != 0) return {};
  return generic.getIndexingMapsArray()[1].isPermutation() ? generic : linalg::GenericOp();
}

// How one dimension of an operand is read in the tensor where its path ends.
struct Read {
  unsigned dimension = 0;
  int64_t seen = 0;    // Its size in the operand,
  int64_t size = 0;    // and in that tensor.
  int64_t factor = 1;  // So many of its elements in one step.
  int64_t before = 0;  // Zeros before it,
  int64_t apart = 1;   // and one element in so many.
  bool is_reversed = false;

  // No zeros, which may also stand behind it.
  bool is_whole() const { return before == 0 && apart == 1 && !is_reversed && size == seen; }
};

// What an operand is read from.
class Trace {
 public:
  // How far it goes: through paddings always.
  enum class Through { kAll, kOrders, kPaddings };

  Trace(linalg::LinalgOp op, unsigned operand, Through through) : through_(through) {
    value_ = op->getOperand(operand);
    path_.push_back(operand);
    const mlir::RankedTensorType type = tensor_of(value_);
    for (unsigned d = 0; d < type.getRank(); ++d) reads_.push_back({d, type.getDimSize(d), type.getDimSize(d)});
    while (step()) {
    }
  }

  const Path& path() const { return path_; }
  Read read(unsigned dimension) const { return reads_[dimension]; }
  int64_t stride(unsigned dimension) const {
    return stride_of(tensor_of(value_), reads_[dimension].dimension) * reads_[dimension].factor;
  }
  mlir::Type element() const { return tensor_of(value_).getElementType(); }
  const SmallVector<Operation*>& passed() const { return passed_; }

 private:
  bool step() {
    Operation* op = value_.getDefiningOp();
    if (!op || is_library_result(op)) return false;
    const SmallVector<Read> before(reads_);
    int operand = -1;
    if (auto pad = llvm::dyn_cast<tensor::PadOp>(op)) {
      operand = pass(pad);
    } else if (auto expand = llvm::dyn_cast<tensor::ExpandShapeOp>(op)) {
      operand = pass(expand);
    } else if (auto insert = llvm::dyn_cast<tensor::InsertSliceOp>(op)) {
      operand = pass(insert);
    } else if (const linalg::LinalgOp copy = as_copy(op)) {
      operand = pass_copy(copy);
    }
    if (operand < 0) {
      reads_ = before;
      return false;
    }
    if (!llvm::isa<tensor::ExpandShapeOp>(op)) passed_.push_back(op);
    path_.push_back(operand);
    value_ = op->getOperand(static_cast<unsigned>(operand));
    return true;
  }

  int pass(tensor::PadOp pad) {
    if (!pad.getSourceType().hasStaticShape() || !is_zero(pad.getConstantPaddingValue())) return -1;
    for (Read& read : reads_) {
      const int64_t low = pad.getStaticLow()[read.dimension], high = pad.getStaticHigh()[read.dimension];
      if (low == 0 && high == 0) continue;
      if (low < 0 || high < 0 || read.apart != 1 || read.is_reversed || read.factor != 1) return -1;
      read.before += low;
      read.size = pad.getSourceType().getDimSize(read.dimension);
    }
    return 0;
  }

  // A place among zeros: a padding, with zeros between the elements where it has steps.
  int pass(tensor::InsertSliceOp insert) {
    const mlir::RankedTensorType source = insert.getSourceType();
    if (through_ != Through::kAll || source.getRank() != insert.getDestType().getRank()) return -1;
    if (!source.hasStaticShape() || !is_filled_with_zeros(insert.getDest())) return -1;
    for (Read& read : reads_) {
      const int64_t offset = insert.getStaticOffset(read.dimension), step = insert.getStaticStride(read.dimension);
      if (mlir::ShapedType::isDynamic(offset) || mlir::ShapedType::isDynamic(step)) return -1;
      if (offset == 0 && step == 1 && source.getDimSize(read.dimension) == read.size) continue;
      if (read.apart != 1 || read.is_reversed || read.factor != 1) return -1;
      read.before += offset;
      read.apart = step;
      read.size = source.getDimSize(read.dimension);
    }
    return 0;
  }

  int pass(tensor::ExpandShapeOp expand) {
    const mlir::RankedTensorType to = expand.getResultType(), from = expand.getSrcType();
    if (!from.hasStaticShape() || !to.hasStaticShape()) return -1;
    const auto groups = expand.getReassociationIndices();
    for (Read& read : reads_) {
      for (unsigned d = 0; d < groups.size(); ++d) {
        const auto* found = llvm::find(groups[d], static_cast<int64_t>(read.dimension));
        if (found == groups[d].end()) continue;
        if (groups[d].size() > 1 && !(read.is_whole() && read.factor == 1)) return -1;
        for (++found; found != groups[d].end(); ++found) read.factor *= to.getDimSize(static_cast<unsigned>(*found));
        read.dimension = d;
        break;
      }
    }
    return 0;
  }

  int pass_copy(linalg::LinalgOp copy) {
    const SmallVector<AffineMap> maps = copy.getIndexingMapsArray();
    const mlir::RankedTensorType from = tensor_of(copy->getOperand(0));
    if (through_ == Through::kPaddings || !from.hasStaticShape()) return -1;
    if (maps[0].getNumResults() != maps[1].getNumResults()) return -1;
    for (Read& read : reads_) {
      const unsigned loop = maps[1].getDimPosition(read.dimension);
      unsigned source = kNone;
      bool is_reversed = false;
      for (unsigned d = 0; d < maps[0].getNumResults(); ++d) {
        const AffineExpr expression = maps[0].getResult(d), index = mlir::getAffineDimExpr(loop, copy->getContext());
        if (expression == index) source = d;
        if (expression != (from.getDimSize(d) - 1) - index) continue;
        source = d;
        is_reversed = from.getDimSize(d) != 1;
      }
      if (source == kNone || from.getDimSize(source) != read.size) return -1;
      if (is_reversed && (through_ != Through::kAll || read.factor != 1)) return -1;
      read.dimension = source;
      read.is_reversed ^= is_reversed;
    }
    return 0;
  }

  const Through through_;
  Value value_;
  Path path_;
  SmallVector<Read> reads_;
  SmallVector<Operation*> passed_;
};

// Where the result ends: behind a sum of parts, in another order and of another type.
class Result {
 public:
  Result(linalg::LinalgOp op, bool through_orders) : op_(op), root_(op), through_orders_(through_orders) {
    const mlir::RankedTensorType type = tensor_of(op->getResult(0));
    for (unsigned d = 0; d < type.getRank(); ++d) places_.push_back(d);
    while (step()) {
    }
  }

  Operation* root() const { return root_; }
  const SmallVector<Operation*>& passed() const { return passed_; }
  const Path& path() const { return path_; }
  mlir::Type element() const { return tensor_of(root_->getResult(0)).getElementType(); }
  // Whether what follows adds up this dimension of the operation's result.
  bool is_summed(unsigned dimension) const { return places_[dimension] == kNone; }
  int64_t stride(unsigned dimension) const { return stride_of(tensor_of(root_->getResult(0)), places_[dimension]); }

 private:
  bool step() {
    linalg::LinalgOp reader;
    for (Operation* user : root_->getResult(0).getUsers()) {
      if (reader || user->getBlock() != root_->getBlock()) return false;
      reader = llvm::dyn_cast<linalg::LinalgOp>(user);
      if (!reader) return false;
    }
    if (!reader || !reader.hasPureTensorSemantics() || reader->getNumResults() != 1) return false;
    if (is_library_result(reader)) return false;
    if (!tensor_of(reader->getResult(0)).hasStaticShape()) return false;
    return take_copy(reader) || take_sum(reader);
  }

  void go_on(linalg::LinalgOp reader, unsigned operand, llvm::function_ref<unsigned(unsigned)> place_of) {
    for (unsigned& place : places_) {
      if (place != kNone) place = place_of(place);
    }
    passed_.push_back(root_);
    path_.insert(path_.begin(), operand);
    root_ = reader;
  }

  // The loop that reads dimension `place`, and where the reader's result has it.
  static unsigned place_by(linalg::LinalgOp reader, AffineMap read, unsigned place) {
    const AffineMap written = reader.getIndexingMapsArray().back();
    return static_cast<unsigned>(*written.getResultPosition(read.getResult(place)));
  }

  bool take_copy(linalg::LinalgOp reader) {
    if (reader.getNumReductionLoops() != 0 || reader.getNumDpsInputs() != 1) return false;
    const SmallVector<AffineMap> maps = reader.getIndexingMapsArray();
    if (!through_orders_ && !(maps[0].isIdentity() && maps[1].isIdentity())) return false;
    if (!maps[0].isPermutation() || !maps[1].isPermutation() || reader->getOperand(0) != root_->getResult(0))
      return false;
    if (!llvm::isa<linalg::TransposeOp>(reader.getOperation())) {
      auto generic = llvm::dyn_cast<linalg::GenericOp>(reader.getOperation());
      if (!generic) return false;
      Value yielded = generic.getBody()->getTerminator()->getOperand(0);
      if (auto narrowed = yielded.getDefiningOp<arith::TruncFOp>()) yielded = narrowed.getIn();
      if (yielded != generic.getBody()->getArgument(0)) return false;
    }
    go_on(reader, 0, [&](unsigned place) { return place_by(reader, maps[0], place); });
    return true;
  }

  // Over the first dimension, which is parts of the operation's sum.
  bool take_sum(linalg::LinalgOp reader) {
    auto generic = llvm::dyn_cast<linalg::GenericOp>(reader.getOperation());
    if (!generic || generic.getNumReductionLoops() != 1 || generic.getNumDpsInputs() != 1) return false;
    const SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    if (!maps[0].isPermutation() || !maps[1].isProjectedPermutation() || root_ != op_.getOperation()) return false;
    if (generic->getOperand(0) != root_->getResult(0) || !is_filled_with_zeros(generic.getDpsInits()[0])) return false;
    auto sum = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
    if (!sum) return false;
    const Value one = generic.getBody()->getArgument(0), other = generic.getBody()->getArgument(1);
    if (!(sum.getLhs() == one && sum.getRhs() == other) && !(sum.getLhs() == other && sum.getRhs() == one))
      return false;
    const AffineMap written = maps[1];
    go_on(reader, 0, [&](unsigned place) {
      const auto found = written.getResultPosition(maps[0].getResult(place));
      return found ? static_cast<unsigned>(*found) : kNone;
    });
    return true;
  }

  linalg::LinalgOp op_;
  Operation* root_;
  const bool through_orders_;
  SmallVector<unsigned> places_;
  SmallVector<Operation*> passed_;
  Path path_;
};

// Loops of one kind; those of one step are none.
struct Loop {
  unsigned loop = kNone;
  int64_t size = 1;
};

// Along one dimension of the image: out = steps of `result`, window = steps of `window`.
struct Spatial {
  unsigned dimension = kNone;  // Of the image.
  Loop result = {}, window = {};
  int64_t result_step = 1, window_step = 1;
};

// Which loop is what.
class Roles {
 public:
  // Empty: a convolution.
  const char* find(linalg::LinalgOp op) {
    const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    ranges_ = op.getStaticLoopRanges();
    if (llvm::any_of(ranges_, mlir::ShapedType::isDynamic)) return "a size is not known";
    const bool in_first = has_windows(maps[0]), in_second = has_windows(maps[1]);
    if (in_first == in_second) return in_first ? "both operands have windows" : "";
    image = in_first ? 0 : 1;
    filter = 1 - image;
    image_map = maps[image];
    filter_map = maps[filter];
    result_map = maps[2];
    if (!filter_map.isProjectedPermutation() || !result_map.isProjectedPermutation())
      return "an operand has constant places";
    llvm::DenseSet<unsigned> in_windows;
    for (unsigned d = 0; d < image_map.getNumResults(); ++d) {
      if (llvm::isa<mlir::AffineDimExpr>(image_map.getResult(d))) continue;
      if (const char* why = add_spatial(image_map.getResult(d), d, in_windows)) return why;
    }
    for (unsigned loop = 0; loop < ranges_.size(); ++loop) {
      if (ranges_[loop] == 1 || in_windows.contains(loop)) continue;
      const bool of_image = reads(image_map, loop), of_filter = reads(filter_map, loop),
                 of_result = reads(result_map, loop);
      std::vector<Loop>* const kind = of_image && of_result && of_filter ? &groups
                                      : of_image && of_result            ? &images
                                      : of_image && of_filter            ? &inputs
                                      : of_filter && of_result           ? &outputs
                                                                         : nullptr;
      if (!kind) return "an operand alone is summed";
      kind->push_back({loop, ranges_[loop]});
    }
    return nullptr;
  }

  // Where windows, or results, are of one element, their loops look like those of images and channels: each way to read them.
  std::vector<Roles> readings() const {
    std::vector<Roles> all = {*this};
    for (std::vector<Loop> Roles::*const loops : {&Roles::images, &Roles::inputs}) {
      std::vector<Roles> next;
      for (const Roles& each : all) {
        const size_t count = (each.*loops).size();
        for (size_t left = 0; left < std::max<size_t>(count, 1); ++left) next.push_back(each.reading_of(loops, left));
      }
      all = std::move(next);
    }
    return all;
  }

  unsigned image = 0, filter = 1;
  AffineMap image_map, filter_map, result_map;
  std::vector<Spatial> spatial;
  std::vector<Loop> groups, images, inputs, outputs;

  static std::optional<unsigned> place(AffineMap map, unsigned loop) {
    for (unsigned d = 0; d < map.getNumResults(); ++d) {
      const auto index = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResult(d));
      if (index && index.getPosition() == loop) return d;
    }
    return std::nullopt;
  }

 private:
  static bool reads(AffineMap map, unsigned loop) { return place(map, loop).has_value(); }
  bool has_windows(AffineMap map) const {
    return llvm::any_of(map.getResults(), [](AffineExpr each) { return !llvm::isa<mlir::AffineDimExpr>(each); });
  }

  // All but one of the loops are dimensions of windows.
  Roles reading_of(std::vector<Loop> Roles::*loops, size_t left) const {
    Roles made = *this;
    if ((this->*loops).size() < 2) return made;
    (made.*loops).clear();
    for (size_t i = 0; i < (this->*loops).size(); ++i) {
      const Loop loop = (this->*loops)[i];
      if (i == left) {
        (made.*loops).push_back(loop);
        continue;
      }
      Spatial along{.dimension = *place(image_map, loop.loop)};
      (loops == &Roles::images ? along.result : along.window) = loop;
      made.spatial.push_back(along);
    }
    return made;
  }

  // loop * step.
  static bool is_step(AffineExpr expression, unsigned& loop, int64_t& step) {
    step = 1;
    if (const auto product = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expression)) {
      const auto factor = llvm::dyn_cast<mlir::AffineConstantExpr>(product.getRHS());
      if (product.getKind() != mlir::AffineExprKind::Mul || !factor || factor.getValue() < 1) return false;
      step = factor.getValue();
      expression = product.getLHS();
    }
    const auto index = llvm::dyn_cast<mlir::AffineDimExpr>(expression);
    if (index) loop = index.getPosition();
    return static_cast<bool>(index);
  }

  const char* add_spatial(AffineExpr expression, unsigned dimension, llvm::DenseSet<unsigned>& in_windows) {
    constexpr const char* kNoWindow = "an operand is read at places that are no windows";
    unsigned loops[2] = {kNone, kNone};
    int64_t steps[2] = {1, 1};
    const auto sum = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expression);
    if (sum && sum.getKind() == mlir::AffineExprKind::Add) {
      if (!is_step(sum.getLHS(), loops[0], steps[0]) || !is_step(sum.getRHS(), loops[1], steps[1])) return kNoWindow;
    } else if (!is_step(expression, loops[0], steps[0])) {
      return kNoWindow;
    }
    Spatial made{.dimension = dimension};
    for (unsigned i = 0; i < 2; ++i) {
      if (loops[i] == kNone) continue;
      if (!in_windows.insert(loops[i]).second) return kNoWindow;
      const bool of_result = reads(result_map, loops[i]), of_filter = reads(filter_map, loops[i]);
      if (of_result == of_filter) return kNoWindow;
      (of_result ? made.result : made.window) = {loops[i], ranges_[loops[i]]};
      (of_result ? made.result_step : made.window_step) = steps[i];
    }
    spatial.push_back(made);
    return nullptr;
  }

  SmallVector<int64_t> ranges_;
};

// Writes the numbers. The operation's tensors are those of the convolution or of one of its gradients: an image x, a filter w and what
// they give, y. Of N images with C channels come N with K.
class Layout {
 public:
  Layout(linalg::LinalgOp op, const Roles& roles, Trace::Through through)
      : op_(op),
        roles_(roles),
        image_(op, roles.image, through),
        filter_(op, roles.filter, through),
        result_(op, through != Trace::Through::kPaddings) {}

  const char* write(ConvolutionLayout& layout) {
    if (roles_.spatial.size() > kSpatialMax) return "it has more than three dimensions of windows";
    if (const char* why = join_parts()) return why;
    for (const std::vector<Loop>* each : {&groups_, &images_, &inputs_}) {
      if (each->size() > 1) return "its images or channels are several dimensions";
    }
    if (roles_.outputs.size() > 1) return "its images or channels are several dimensions";
    if (const char* why = choose_kind(layout.kind)) return why;
    if (const char* why = check_zeros()) return why;
    if (const char* why = write_numbers(layout)) return why;
    layout.op = op_;
    layout.root = result_.root();
    for (const auto& [path, trace] : {std::pair(&layout.paths[0], &image_), std::pair(&layout.paths[1], &filter_)}) {
      *path = result_.path();
      path->append(trace->path().begin(), trace->path().end());
      layout.passed.append(trace->passed().begin(), trace->passed().end());
    }
    layout.passed.append(result_.passed().begin(), result_.passed().end());
    llvm::raw_string_ostream(layout.elements)
        << image_.element() << ' ' << filter_.element() << ' ' << result_.element();
    return nullptr;
  }

 private:
  enum class Side { kImage, kFilter, kResult };

  unsigned place(Side side, unsigned loop) const {
    const AffineMap map = side == Side::kImage    ? roles_.image_map
                          : side == Side::kFilter ? roles_.filter_map
                                                  : roles_.result_map;
    return *Roles::place(map, loop);
  }
  int64_t stride(Side side, unsigned loop) const {
    const unsigned dimension = place(side, loop);
    if (side == Side::kResult) return result_.stride(dimension);
    return (side == Side::kImage ? image_ : filter_).stride(dimension);
  }
  Read read(Side side, unsigned loop) const {
    return (side == Side::kImage ? image_ : filter_).read(place(side, loop));
  }

  // Images that were divided into parts, whose sums what follows adds up, are one dimension again.
  const char* join_parts() {
    groups_ = roles_.groups;
    images_ = roles_.images;
    inputs_ = roles_.inputs;
    for (size_t i = 0; i < groups_.size(); ++i) {
      const Loop part = groups_[i];
      if (!result_.is_summed(place(Side::kResult, part.loop))) continue;
      groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(i));
      if (inputs_.empty()) inputs_.push_back({part.loop, 1});
      Loop& rest = inputs_[0];
      for (const Side side : {Side::kImage, Side::kFilter}) {
        if (rest.loop != part.loop && stride(side, part.loop) != stride(side, rest.loop) * rest.size) {
          return "its images are several dimensions";
        }
      }
      rest.size *= part.size;
      are_joined_ = true;
      break;
    }
    return nullptr;
  }

  const char* choose_kind(ConvolutionKind& kind) const {
    bool all_reversed = true, any_reversed = false, has_steps = false, is_apart = false;
    int64_t results = 1, windows = 1;
    for (const Spatial& each : roles_.spatial) {
      const Read of_image = image_.read(each.dimension);
      if (of_image.is_reversed || of_image.factor != 1) return "an image is read backwards";
      is_apart |= of_image.apart != 1;
      has_steps |= each.result_step != 1;
      results *= each.result.size;
      windows *= each.window.size;
      if (each.window.size == 1) continue;
      const Read of_filter = read(Side::kFilter, each.window.loop);
      if (of_filter.before != 0 || of_filter.apart != 1 || of_filter.factor != 1) return "a filter has zeros around it";
      any_reversed |= of_filter.is_reversed;
      all_reversed &= of_filter.is_reversed;
    }
    if (is_apart || any_reversed) {
      kind = ConvolutionKind::kInputGradient;
      return !all_reversed || has_steps ? "it has zeros between the elements of an image" : nullptr;
    }
    kind = windows > results ? ConvolutionKind::kFilterGradient : ConvolutionKind::kForward;
    return nullptr;
  }

  const char* check_zeros() {
    const auto are_whole = [&](Side side, const std::vector<Loop>& loops) {
      return llvm::all_of(loops, [&](const Loop& each) { return read(side, each.loop).is_whole(); });
    };
    const bool are_all_whole = are_whole(Side::kImage, groups_) && are_whole(Side::kImage, images_) &&
                               are_whole(Side::kFilter, groups_) && are_whole(Side::kFilter, roles_.outputs);
    if (!are_all_whole) return "zeros stand around channels or images";
    if (are_whole(Side::kImage, inputs_) && are_whole(Side::kFilter, inputs_)) return nullptr;
    return leave_out_zeros() ? nullptr : "zeros stand around channels or images";
  }

  // Channels that are zeros in one operand add nothing. Whether that is all there is.
  bool leave_out_zeros() {
    if (are_joined_ || !groups_.empty()) return false;
    for (const Side side : {Side::kImage, Side::kFilter}) {
      Read of = read(side, inputs_[0].loop);
      inputs_[0].size = std::min(inputs_[0].size, of.size);
      of.size = of.seen;
      if (!of.is_whole() || of.factor != 1) return false;
    }
    return true;
  }

  static int64_t size_of(const std::vector<Loop>& loops) { return loops.empty() ? 1 : loops[0].size; }
  int64_t stride_of_loops(Side side, const std::vector<Loop>& loops) const {
    return size_of(loops) > 1 ? stride(side, loops[0].loop) : 0;
  }
  // From one channel to the next, over all groups; nothing where these don't follow each other.
  std::optional<int64_t> channel_stride(Side side, const std::vector<Loop>& channels) const {
    const int64_t inner = stride_of_loops(side, channels), outer = stride_of_loops(side, groups_);
    if (groups_.empty() || size_of(channels) == 1) return groups_.empty() ? inner : outer;
    return outer == inner * size_of(channels) ? std::optional(inner) : std::nullopt;
  }

  int64_t spatial_stride(Side side, const Spatial& spatial) const {
    if (side == Side::kImage) return image_.stride(spatial.dimension);
    const Loop& loop = side == Side::kFilter ? spatial.window : spatial.result;
    return loop.size > 1 ? stride(side, loop.loop) : 0;
  }

  const char* write_numbers(ConvolutionLayout& layout) const {
    const bool of_filter = layout.kind == ConvolutionKind::kFilterGradient,
               of_input = layout.kind == ConvolutionKind::kInputGradient;
    const Side x = of_input ? Side::kResult : Side::kImage, w = of_filter ? Side::kResult : Side::kFilter,
               y = of_filter  ? Side::kFilter
                   : of_input ? Side::kImage
                              : Side::kResult;
    const std::vector<Loop>&n = of_filter ? inputs_ : images_,
          &c = of_filter  ? images_
               : of_input ? roles_.outputs
                          : inputs_,
          &k = of_input ? inputs_ : roles_.outputs;
    const auto x_channel = channel_stride(x, c), w_channel = channel_stride(w, k), y_channel = channel_stride(y, k);
    if (!x_channel || !w_channel || !y_channel) return "channels of groups don't follow each other";
    std::vector<int64_t> strides[] = {
        {stride_of_loops(x, n), *x_channel}, {*w_channel, stride_of_loops(w, c)}, {stride_of_loops(y, n), *y_channel}};
    layout.numbers = {size_of(groups_), size_of(n), size_of(c), size_of(k)};
    layout.work = size_of(groups_) * size_of(n) * size_of(c) * size_of(k);
    layout.filter_uses = size_of(n);
    std::string image, window;
    for (const Spatial& each : in_order()) {
      Along along;
      if (each.dimension != kNone) {
        if (const char* why = along_spatial(layout.kind, each, along)) return why;
        strides[0].push_back(spatial_stride(x, each));
        strides[1].push_back(spatial_stride(w, each));
        strides[2].push_back(spatial_stride(y, each));
        image += (image.empty() ? "" : "x") + std::to_string(along.image);
        window += (window.empty() ? "" : "x") + std::to_string(along.window);
      } else {
        for (std::vector<int64_t>& of : strides) of.push_back(0);
      }
      layout.numbers.insert(layout.numbers.end(),
                            {along.image, along.window, along.result, along.step, along.dilation, along.before});
      layout.work *= along.window * along.result;
      layout.filter_uses *= along.result;
    }
    if (!find_order(strides, layout)) return "its images and results have gaps, or lie in different orders";
    for (const std::vector<int64_t>& of : strides) layout.numbers.insert(layout.numbers.end(), of.begin(), of.end());
    if (llvm::any_of(layout.numbers, [](int64_t number) { return number > INT32_MAX; })) return "it is too large";
    layout.sizes = std::to_string(size_of(n)) + "x" + image + " by " + window + ", " + std::to_string(size_of(c)) +
                   " to " + std::to_string(size_of(k)) + " channels";
    if (!groups_.empty()) layout.sizes += " in " + std::to_string(size_of(groups_)) + " groups";
    return nullptr;
  }

  // Whether images and results have no gaps, and their channels outside, both, or innermost; and whether the filter has, too.
  static bool find_order(llvm::ArrayRef<std::vector<int64_t>> strides, ConvolutionLayout& layout) {
    const llvm::ArrayRef<int64_t> numbers = layout.numbers;
    const auto is_packed = [&](size_t tensor, int64_t first, int64_t channels, bool channels_last) {
      const size_t at = 4 + tensor;
      const int64_t sizes[] = {first, channels, numbers[at], numbers[at + 6], numbers[at + 12]};
      int64_t inner = 1;
      for (const size_t dimension :
           channels_last ? std::array<size_t, 5>{1, 4, 3, 2, 0} : std::array<size_t, 5>{4, 3, 2, 1, 0}) {
        if (sizes[dimension] != 1 && strides[tensor][dimension] != inner) return false;
        inner *= sizes[dimension];
      }
      return true;
    };
    const int64_t inputs = numbers[0] * numbers[2], outputs = numbers[0] * numbers[3];
    for (const bool channels_last : {true, false}) {
      if (!is_packed(0, numbers[1], inputs, channels_last) || !is_packed(2, numbers[1], outputs, channels_last))
        continue;
      layout.moves_filter = !is_packed(1, outputs, numbers[2], channels_last);
      return true;
    }
    return false;
  }

  // As the image lies in memory; dimensions that there are not come first.
  std::vector<Spatial> in_order() const {
    std::vector<Spatial> all = roles_.spatial;
    llvm::sort(all, [&](const Spatial& a, const Spatial& b) {
      return image_.stride(a.dimension) > image_.stride(b.dimension);
    });
    all.insert(all.begin(), kSpatialMax - all.size(), Spatial{});
    return all;
  }

  // What the convolution does along one dimension of its images.
  struct Along {
    int64_t image = 1, window = 1, result = 1, step = 1, dilation = 1, before = 0;
  };
  const char* along_spatial(ConvolutionKind kind, const Spatial& each, Along& along) const {
    const Read read = image_.read(each.dimension);
    switch (kind) {
      case ConvolutionKind::kForward:
        along = {read.size, each.window.size, each.result.size, each.result_step, each.window_step, read.before};
        break;
      case ConvolutionKind::kFilterGradient:
        along = {read.size, each.result.size, each.window.size, each.window_step, each.result_step, read.before};
        break;
      case ConvolutionKind::kInputGradient:
        along = {each.result.size, each.window.size, read.size,
                 read.apart,       each.window_step, (each.window.size - 1) * each.window_step - read.before};
        break;
    }
    const int64_t window = (along.window - 1) * along.dilation + 1;
    const int64_t after = (along.result - 1) * along.step + window - along.image - along.before;
    // Less than a step may be left that no window reaches.
    if (after < 0 && -after >= along.step) return "windows leave a part of an image out";
    const bool is_beside = along.image < 1 || along.before < 0 || along.before >= window || after >= window;
    return is_beside ? "windows lie beside the image" : nullptr;
  }

  linalg::LinalgOp op_;
  const Roles& roles_;
  const Trace image_, filter_;
  const Result result_;
  std::vector<Loop> groups_, images_, inputs_;
  bool are_joined_ = false;
};

}  // namespace

ConvolutionOrReason convolution_layout(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2 || op->getNumResults() != 1) return {};
  if (!codegen::sums_products(op)) return {};
  Roles found;
  if (const char* why = found.find(op)) return {{}, why};
  if (!is_filled_with_zeros(op.getDpsInits()[0])) return {{}, "it adds to something"};
  const char* why = "";
  // Where what stands around it makes no gradient, the zeros that were written are read; where images and results would lie
  // in different orders, what was put in order.
  for (const Trace::Through through : {Trace::Through::kAll, Trace::Through::kOrders, Trace::Through::kPaddings}) {
    for (const Roles& roles : found.readings()) {
      ConvolutionLayout layout;
      why = Layout(op, roles, through).write(layout);
      if (!why) return {std::move(layout), ""};
    }
  }
  return {{}, why};
}

}  // namespace baton::compiler_lite::schedule
