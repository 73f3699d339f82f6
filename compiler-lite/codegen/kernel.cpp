#include "compiler-lite/codegen/kernel.hpp"

#include "compiler-lite/codegen/attention.hpp"
#include "compiler-lite/codegen/by_element.hpp"
#include "compiler-lite/codegen/distribute.hpp"
#include "compiler-lite/codegen/flatten.hpp"
#include "compiler-lite/codegen/fourier.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/matrix_work.hpp"
#include "compiler-lite/codegen/prepare.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/codegen/scatter.hpp"
#include "compiler-lite/codegen/sort.hpp"
#include "compiler-lite/codegen/work.hpp"
#include "hal/interface/numbers.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace bufferization = mlir::bufferization;
using mlir::AffineExpr;
using mlir::FailureOr;
using mlir::Location;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;

constexpr int64_t kNotTied = -1;

unsigned words_of(mlir::Type type) {
  return !llvm::isa<mlir::IndexType>(type) && type.getIntOrFloatBitWidth() > 32 ? 2 : 1;
}

bool is_constant_type(mlir::Type type) {
  return llvm::isa<mlir::IndexType>(type) || (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64);
}

// Which argument each result overwrites.
FailureOr<llvm::SmallVector<int64_t>> read_ties(mlir::func::FuncOp group) {
  llvm::SmallVector<int64_t> ties(group.getNumResults(), kNotTied);
  const auto attribute = group->getAttrOfType<mlir::ArrayAttr>("tied_operands");
  if (!attribute) return ties;
  if (attribute.size() != ties.size()) {
    return group.emitError("tied_operands has ") << attribute.size() << " numbers for " << ties.size() << " results.";
  }
  for (size_t i = 0; i < ties.size(); ++i) {
    const auto number = llvm::dyn_cast<mlir::IntegerAttr>(attribute.getValue()[i]);
    ties[i] = number ? number.getInt() : kNotTied;
    if (ties[i] == kNotTied) continue;
    const bool inside = ties[i] >= 0 && ties[i] < static_cast<int64_t>(group.getNumArguments());
    if (!inside || group.getArgumentTypes()[static_cast<size_t>(ties[i])] != group.getResultTypes()[i]) {
      return group.emitError("Result ") << i << " is tied to argument " << ties[i]
                                        << ", which is not a tensor of the result's type.";
    }
  }
  return ties;
}

// Reads the group's signature.
class Signature {
 public:
  Signature(mlir::func::FuncOp group, Kernel& kernel) : group_(group), kernel_(kernel) {}

  mlir::LogicalResult read() {
    FailureOr<llvm::SmallVector<int64_t>> ties = read_ties(group_);
    if (mlir::failed(ties) || mlir::failed(check_types())) return mlir::failure();
    using Source = KernelConstant::Source;
    for (unsigned i = 0; i < group_.getNumArguments(); ++i) {
      const mlir::Type type = group_.getArgumentTypes()[i];
      if (!llvm::isa<RankedTensorType>(type)) {
        add_constant(Source::kArgument, i, 0, type);
      } else {
        kernel_.bindings.push_back({KernelBinding::Source::kArgument, i, llvm::is_contained(*ties, i)});
      }
    }
    add_sizes(Source::kArgumentSize, group_.getArgumentTypes());
    for (unsigned i = 0; i < group_.getNumResults(); ++i) {
      if ((*ties)[i] == kNotTied) kernel_.bindings.push_back({KernelBinding::Source::kResult, i, true});
    }
    add_sizes(Source::kResultSize, group_.getResultTypes());
    ties_ = std::move(*ties);
    return mlir::success();
  }

  // The binding that result `i` is written to.
  unsigned binding_of_result(unsigned i) const {
    const bool tied = ties_[i] != kNotTied;
    const auto source = tied ? KernelBinding::Source::kArgument : KernelBinding::Source::kResult;
    const unsigned index = tied ? static_cast<unsigned>(ties_[i]) : i;
    for (unsigned b = 0; b < kernel_.bindings.size(); ++b) {
      if (kernel_.bindings[b].source == source && kernel_.bindings[b].index == index) return b;
    }
    return 0;
  }

 private:
  mlir::LogicalResult check_types() {
    for (const mlir::Type type : group_.getArgumentTypes()) {
      if (!llvm::isa<RankedTensorType>(type) && !is_constant_type(type)) {
        return group_.emitError("A kernel can't take an argument of type ") << type << ".";
      }
    }
    for (const mlir::Type type : group_.getResultTypes()) {
      if (!llvm::isa<RankedTensorType>(type)) {
        return group_.emitError("A kernel can't return a value of type ") << type << ".";
      }
    }
    return mlir::success();
  }

  void add_sizes(KernelConstant::Source source, mlir::TypeRange types) {
    for (unsigned i = 0; i < types.size(); ++i) {
      const auto tensor = llvm::dyn_cast<RankedTensorType>(types[i]);
      for (unsigned d = 0; tensor && d < tensor.getRank(); ++d) {
        if (tensor.isDynamicDim(d)) add_constant(source, i, d, mlir::IndexType::get(group_.getContext()));
      }
    }
  }

  void add_constant(KernelConstant::Source source, unsigned index, unsigned dimension, mlir::Type type) {
    kernel_.constants.push_back({source, index, dimension, type, kernel_.word_count, words_of(type)});
    kernel_.word_count += words_of(type);
  }

  mlir::func::FuncOp group_;
  Kernel& kernel_;
  llvm::SmallVector<int64_t> ties_;
};

// Writes the entry point of one group.
class EntryWriter {
 public:
  EntryWriter(mlir::func::FuncOp group, Kernel& kernel, const Signature& signature, mlir::ModuleOp kernels)
      : group_(group),
        kernel_(kernel),
        signature_(signature),
        builder_(kernels.getBodyRegion()),
        location_(group.getLoc()) {
    builder_.setInsertionPointToEnd(kernels.getBody());
    layout_ = {kernel.word_count, kernel.bindings.size()};
  }

  mlir::func::FuncOp write() {
    auto entry = builder_.create<mlir::func::FuncOp>(location_, kernel_.name, builder_.getFunctionType({}, {}));
    note_layout(entry, layout_);
    builder_.setInsertionPointToStart(entry.addEntryBlock());
    read_constants();
    make_bindings();
    mlir::IRMapping values;
    for (unsigned i = 0; i < group_.getNumArguments(); ++i) values.map(group_.getArgument(i), argument(i));
    for (mlir::Operation& op : group_.getBody().front().without_terminator()) builder_.clone(op, values);
    mlir::Operation* terminator = group_.getBody().front().getTerminator();
    for (unsigned i = 0; i < terminator->getNumOperands(); ++i) {
      write_result(i, values.lookup(terminator->getOperand(i)));
    }
    builder_.create<mlir::func::ReturnOp>(location_);
    resolve_sizes(entry);
    return entry;
  }

  // Valid until operations move.
  llvm::SmallVector<Destination> destinations() const { return destinations_; }
  // Empty for a tensor that is none of the arguments.
  llvm::SmallVector<AffineExpr> sizes_of(Value tensor) const {
    for (const auto& [argument, binding] : argument_tensors_) {
      if (argument == tensor) return sizes_[binding];
    }
    return {};
  }

 private:
  void read_constants() {
    for (const KernelConstant& constant : kernel_.constants) {
      llvm::SmallVector<Value> words;
      for (unsigned i = 0; i < constant.word_count; ++i) {
        words.push_back(make_constant_load(builder_, location_, layout_, constant.word + i));
      }
      constants_.push_back(from_words(words, constant));
    }
  }

  Value from_words(llvm::ArrayRef<Value> words, const KernelConstant& constant) {
    const mlir::Type type = constant.type;
    if (llvm::isa<mlir::IndexType>(type)) {
      // Sizes are unsigned, numbers of the program may be negative.
      if (constant.source == KernelConstant::Source::kArgument) {
        return builder_.create<arith::IndexCastOp>(location_, type, words[0]);
      }
      return builder_.create<arith::IndexCastUIOp>(location_, type, words[0]);
    }
    Value bits = words[0];
    const unsigned width = type.getIntOrFloatBitWidth();
    if (words.size() == 2) {
      const mlir::Type i64 = builder_.getI64Type();
      const Value low = builder_.create<arith::ExtUIOp>(location_, i64, words[0]);
      const Value high = builder_.create<arith::ExtUIOp>(location_, i64, words[1]);
      const Value shift = builder_.create<arith::ConstantIntOp>(location_, 32, i64);
      bits = builder_.create<arith::OrIOp>(location_, low, builder_.create<arith::ShLIOp>(location_, high, shift));
    }
    if (width != bits.getType().getIntOrFloatBitWidth()) {
      bits = builder_.create<arith::TruncIOp>(location_, builder_.getIntegerType(width), bits);
    }
    return bits.getType() == type ? bits : builder_.create<arith::BitcastOp>(location_, type, bits).getResult();
  }

  // The number of the constant that holds a size.
  unsigned find_size(KernelConstant::Source source, unsigned index, unsigned dimension) const {
    for (unsigned i = 0; i < kernel_.constants.size(); ++i) {
      const KernelConstant& constant = kernel_.constants[i];
      if (constant.source == source && constant.index == index && constant.dimension == dimension) return i;
    }
    return 0;
  }

  void make_bindings() {
    for (unsigned b = 0; b < kernel_.bindings.size(); ++b) {
      const KernelBinding& binding = kernel_.bindings[b];
      const bool is_argument = binding.source == KernelBinding::Source::kArgument;
      const auto tensor = llvm::cast<RankedTensorType>(is_argument ? group_.getArgumentTypes()[binding.index]
                                                                   : group_.getResultTypes()[binding.index]);
      const auto source = is_argument ? KernelConstant::Source::kArgumentSize : KernelConstant::Source::kResultSize;
      llvm::SmallVector<Value> dynamic;
      llvm::SmallVector<AffineExpr> sizes;
      for (unsigned d = 0; d < tensor.getRank(); ++d) {
        if (tensor.isDynamicDim(d)) {
          const unsigned constant = find_size(source, binding.index, d);
          dynamic.push_back(constants_[constant]);
          sizes.push_back(builder_.getAffineSymbolExpr(constant));
        } else {
          sizes.push_back(builder_.getAffineConstantExpr(tensor.getDimSize(d)));
        }
      }
      const auto type = mlir::MemRefType::get(tensor.getShape(), tensor.getElementType());
      memory_.push_back(make_subspan(builder_, location_, layout_, b, type, dynamic));
      sizes_.push_back(sizes);
      dynamic_sizes_.push_back(dynamic);
    }
  }

  Value argument(unsigned i) {
    for (unsigned b = 0; b < kernel_.bindings.size(); ++b) {
      const KernelBinding& binding = kernel_.bindings[b];
      if (binding.source != KernelBinding::Source::kArgument || binding.index != i) continue;
      auto tensor = builder_.create<bufferization::ToTensorOp>(location_, memory_[b]);
      tensor.setRestrict(true);
      tensor.setWritable(binding.written);
      argument_tensors_.push_back({tensor.getResult(), b});
      return tensor;
    }
    for (unsigned c = 0; c < kernel_.constants.size(); ++c) {
      const KernelConstant& constant = kernel_.constants[c];
      if (constant.source == KernelConstant::Source::kArgument && constant.index == i) return constants_[c];
    }
    return {};
  }

  void write_result(unsigned i, Value value) {
    const unsigned binding = signature_.binding_of_result(i);
    auto write = builder_.create<bufferization::MaterializeInDestinationOp>(location_, value, memory_[binding]);
    write.setRestrict(true);
    write.setWritable(true);
    destinations_.push_back({write, sizes_[binding]});
  }

  // The sizes of arguments are constants of the dispatch.
  void resolve_sizes(mlir::func::FuncOp entry) {
    entry.walk([&](mlir::tensor::DimOp dim) {
      const std::optional<int64_t> dimension = dim.getConstantIndex();
      for (const auto& [tensor, binding] : argument_tensors_) {
        if (dim.getSource() != tensor || !dimension) continue;
        const auto type = llvm::cast<RankedTensorType>(tensor.getType());
        const unsigned d = static_cast<unsigned>(*dimension);
        if (!type.isDynamicDim(d)) continue;
        dim.replaceAllUsesWith(dynamic_sizes_[binding][type.getDynamicDimIndex(d)]);
        dim.erase();
        return;
      }
    });
  }

  mlir::func::FuncOp group_;
  Kernel& kernel_;
  const Signature& signature_;
  OpBuilder builder_;
  Location location_;
  KernelLayout layout_;
  llvm::SmallVector<Value> constants_;
  llvm::SmallVector<Value> memory_;
  llvm::SmallVector<llvm::SmallVector<AffineExpr>> sizes_;
  llvm::SmallVector<llvm::SmallVector<Value>> dynamic_sizes_;
  llvm::SmallVector<std::pair<Value, unsigned>> argument_tensors_;
  llvm::SmallVector<Destination> destinations_;
};

}  // namespace

namespace {

// A slice that is all that a kernel writes goes element by element: so it is divided among workgroups.
void copy_by_element(bufferization::MaterializeInDestinationOp write) {
  auto slice = write.getSource().getDefiningOp<mlir::tensor::ExtractSliceOp>();
  if (!slice || slice.getType().getRank() == 0) return;
  OpBuilder builder(write);
  auto copy = make_by_element(builder, slice.getLoc(), mlir::tensor::getMixedSizes(builder, slice.getLoc(), slice),
                              slice.getType().getElementType(), slice.getResult(),
                              [](OpBuilder&, Location, mlir::ValueRange elements) { return elements.front(); });
  write.getSourceMutable().assign(copy.getResult(0));
}

// Of a result that is inserted into something, a workgroup writes what it inserts.
void write_slices_only(llvm::ArrayRef<Destination> destinations) {
  for (Destination destination : destinations) {
    auto insert = destination.write.getSource().getDefiningOp<mlir::tensor::InsertSliceOp>();
    if (!insert) continue;
    OpBuilder builder(destination.write);
    const Location location = insert.getLoc();
    const auto whole = llvm::cast<mlir::MemRefType>(destination.write.getDest().getType());
    auto type = llvm::cast<mlir::MemRefType>(mlir::memref::SubViewOp::inferRankReducedResultType(
        insert.getSourceType().getShape(), whole, insert.getMixedOffsets(), insert.getMixedSizes(),
        insert.getMixedStrides()));
    // Where the slice's place is known, before what computes it.
    mlir::Operation* latest = destination.write.getDest().getDefiningOp();
    for (const Value value : insert.getOperands().drop_front(2)) {
      mlir::Operation* op = value.getDefiningOp();
      if (op && op->getBlock() == insert->getBlock() && latest->isBeforeInBlock(op)) latest = op;
    }
    builder.setInsertionPointAfter(latest);
    auto slice =
        builder.create<mlir::memref::SubViewOp>(location, type, destination.write.getDest(), insert.getMixedOffsets(),
                                                insert.getMixedSizes(), insert.getMixedStrides());
    builder.setInsertionPoint(destination.write);
    auto write = builder.create<bufferization::MaterializeInDestinationOp>(location, insert.getSource(), slice);
    write.setRestrict(true);
    write.setWritable(true);
    destination.write.erase();
    if (insert->use_empty()) insert.erase();
  }
}

// The only block of a kernel has a multiprocessor for itself.
constexpr int64_t kSingleBlockThreads = 1024;

bool is_single_workgroup(mlir::AffineMap grid) {
  return llvm::all_of(grid.getResults(), [](const AffineExpr size) {
    const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(size);
    return constant && constant.getValue() == 1;
  });
}

std::optional<int64_t> known_workgroups(mlir::AffineMap grid) {
  int64_t count = 1;
  for (const AffineExpr size : grid.getResults()) {
    const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(size);
    if (!constant) return std::nullopt;
    count *= constant.getValue();
  }
  return count;
}

// Products say themselves how many threads they want.
bool has_product(mlir::func::FuncOp entry) {
  return entry
      .walk([](mlir::linalg::LinalgOp op) {
        return is_product(op) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

// As many as its largest operation has elements to read or write: what a workgroup does after another, its threads wait for each
// other all the time.
int64_t threads_of_sequence(mlir::func::FuncOp entry) {
  constexpr int64_t kThreadsMin = 32, kThreadsMax = 512;
  int64_t points = 1;
  entry.walk([&](mlir::linalg::LinalgOp op) {
    int64_t of_op = 1;
    for (const int64_t range : op.getStaticLoopRanges()) of_op *= std::clamp<int64_t>(range, 1, kThreadsMax);
    points = std::max(points, std::min(of_op, kThreadsMax));
  });
  return std::clamp(static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(points))), kThreadsMin, kThreadsMax);
}

mlir::LogicalResult check_width(mlir::func::FuncOp group, const Kernel& kernel) {
  if (kernel.bindings.size() <= hal::kDispatchBindingsMax && kernel.word_count <= hal::kDispatchConstantsMax) {
    return mlir::success();
  }
  return group.emitError("This operation reads and writes ")
         << kernel.bindings.size() << " tensors, and takes " << kernel.word_count
         << " words of sizes and scalars; a kernel takes " << hal::kDispatchBindingsMax << " and "
         << hal::kDispatchConstantsMax << ". Divide it into several.";
}

// Groups that say what they are, and that a kernel of its own computes.
std::optional<FailureOr<mlir::AffineMap>> make_whole(mlir::func::FuncOp group, mlir::func::FuncOp entry,
                                                     const Kernel& kernel, const EntryWriter& writer) {
  const auto symbols = static_cast<unsigned>(kernel.constants.size());
  if (group->hasAttr(kAttention)) return make_attention_kernel(entry, writer.destinations()[0], symbols);
  if (group->hasAttr(kScatter)) {
    const auto sizes_of = [&](Value tensor) { return writer.sizes_of(tensor); };
    return make_scatter_kernel(entry, writer.destinations()[0], sizes_of, symbols);
  }
  if (const auto steps = group->getAttrOfType<mlir::DenseI64ArrayAttr>(kSortSteps)) {
    return make_sort_kernel(entry, writer.destinations()[0], read_sort_steps(steps), symbols);
  }
  if (const std::optional<Fourier> fourier = find_fourier(group, group.getFunctionType())) {
    return FailureOr<mlir::AffineMap>(make_fourier_kernel(entry, writer.destinations(), *fourier, symbols));
  }
  if (read_rotations(group) || read_factors(group)) {
    return FailureOr<mlir::AffineMap>(make_matrix_kernel(group, entry, writer.destinations(), symbols));
  }
  return std::nullopt;
}

}  // namespace

FailureOr<Kernel> make_kernel(mlir::func::FuncOp group, mlir::ModuleOp kernels, Tiling tiling) {
  Kernel kernel;
  kernel.name = group.getSymName().str();
  Signature signature(group, kernel);
  if (group.isExternal() || !group.getBody().hasOneBlock()) {
    return group.emitError("A group must have one block.");
  }
  if (mlir::failed(signature.read()) || mlir::failed(check_width(group, kernel))) return mlir::failure();
  kernel.flops = count_flops(group, kernel);
  EntryWriter writer(group, kernel, signature, kernels);
  mlir::func::FuncOp entry = writer.write();
  if (const std::optional<FailureOr<mlir::AffineMap>> grid = make_whole(group, entry, kernel, writer)) {
    if (mlir::failed(*grid)) return mlir::failure();
    kernel.grid = **grid;
    return kernel;
  }
  if (resolve_region_workgroups(entry)) {
    write_slices_only(writer.destinations());
    return mlir::failed(prepare_group(entry, tiling)) ? FailureOr<Kernel>(mlir::failure()) : kernel;
  }
  if (group->hasAttr(kUndivided)) write_slices_only(writer.destinations());
  if (mlir::failed(prepare_group(entry, tiling))) return mlir::failure();
  if (group->hasAttr(kUndivided)) {
    const auto workgroups = group->getAttrOfType<mlir::IntegerAttr>(kWorkgroups);
    const AffineExpr count = mlir::getAffineConstantExpr(workgroups ? workgroups.getInt() : 1, group.getContext());
    kernel.grid = make_grid(group.getContext(), count, static_cast<unsigned>(kernel.constants.size()));
    entry->setAttr(kUndivided, OpBuilder(entry).getUnitAttr());
    if (tiling == Tiling::kBlocks) {
      entry->setAttr("workgroup_size", OpBuilder(entry).getIndexArrayAttr({threads_of_sequence(entry), 1, 1}));
    }
    return kernel;
  }
  llvm::SmallVector<Destination> destinations = writer.destinations();
  for (Destination& destination : destinations) copy_by_element(destination.write);
  flatten_elementwise(entry, destinations);
  FailureOr<mlir::AffineMap> grid =
      distribute(entry, destinations, static_cast<unsigned>(kernel.constants.size()), tiling);
  if (mlir::failed(grid)) return mlir::failure();
  kernel.grid = *grid;
  if (const std::optional<int64_t> count = known_workgroups(kernel.grid); count && tiling == Tiling::kBlocks) {
    entry->setAttr(kWorkgroups, OpBuilder(entry).getI64IntegerAttr(*count));
  }
  if (tiling == Tiling::kBlocks && is_single_workgroup(kernel.grid) && !has_product(entry)) {
    entry->setAttr("workgroup_size", OpBuilder(entry).getIndexArrayAttr({kSingleBlockThreads, 1, 1}));
  }
  return kernel;
}

}  // namespace baton::compiler_lite::codegen
