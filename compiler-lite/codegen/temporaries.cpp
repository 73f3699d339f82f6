#include "compiler-lite/codegen/temporaries.hpp"

#include <map>
#include <optional>
#include <vector>

#include "compiler-lite/codegen/size_bounds.hpp"
#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace memref = mlir::memref;

constexpr uint64_t kAlignment = 64;

// As LLVM steps through an array: what kernels of a program compute with may have any width.
uint64_t element_bytes(mlir::Type element) {
  if (const auto complex = llvm::dyn_cast<mlir::ComplexType>(element))
    return 2 * element_bytes(complex.getElementType());
  return llvm::isa<mlir::IndexType>(element) ? 8 : llvm::PowerOf2Ceil((element.getIntOrFloatBitWidth() + 7) / 8);
}

// The most bytes that `alloc` can take, or nothing when there is no bound.
std::optional<uint64_t> bound_bytes(memref::AllocOp alloc) {
  uint64_t bytes = element_bytes(alloc.getType().getElementType());
  size_t next_dynamic = 0;
  for (const int64_t size : alloc.getType().getShape()) {
    if (!mlir::ShapedType::isDynamic(size)) {
      bytes *= static_cast<uint64_t>(size);
      continue;
    }
    const mlir::Value dynamic = alloc.getDynamicSizes()[next_dynamic++];
    const std::optional<int64_t> bound = most(dynamic);
    if (!bound || *bound < 0) return std::nullopt;
    bytes *= static_cast<uint64_t>(*bound);
  }
  return bytes;
}

uint64_t aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// The operations of a block that touch a temporary: from the first to the last. Without a block, who knows.
struct Span {
  mlir::Block* block = nullptr;
  size_t first = SIZE_MAX, last = 0;
  mlir::Region* only = nullptr;  // Where one operation touches it, and one region of that alone: which.
};

// While a temporary holds something: in the kernel, and in the turn of a loop that makes it.
struct Life {
  Span in_kernel, in_turn;
};

// The lives of a kernel's temporaries, by the order of the operations in the kernel's only block and in those of turns.
class Lives {
 public:
  explicit Lives(mlir::func::FuncOp kernel) {
    if (!kernel.getBody().hasOneBlock()) return;
    block_ = &kernel.getBody().front();
    number(*block_);
    kernel.walk([&](mlir::LoopLikeOpInterface loop) {
      for (mlir::Region* turn : loop.getLoopRegions()) {
        if (turn->hasOneBlock()) number(turn->front());
      }
    });
  }

  Life of(memref::AllocOp alloc) const {
    mlir::Block* const block = alloc->getBlock();
    const bool is_of_turn = block != block_ && barriers_.find(block) != barriers_.end();
    return {block_ ? span_of(alloc, *block_) : Span{}, is_of_turn ? span_of(alloc, *block) : Span{}};
  }
  // Whether no thread can still be at one when another begins with the other: all meet in between. Threads that meet
  // inside of a branch are all in that one.
  bool are_apart(const Life& a, const Life& b) const {
    mlir::Region *const one = a.in_kernel.only, *const other = b.in_kernel.only;
    if (one && other && one != other && one->getParentOp() == other->getParentOp()) return true;
    return meet_between(a.in_kernel, b.in_kernel) || meet_between(a.in_turn, b.in_turn);
  }

 private:
  void number(mlir::Block& block) {
    std::vector<size_t>& barriers = barriers_[&block];
    for (mlir::Operation& op : block) {
      numbers_[&op] = barriers.size();
      barriers.push_back((barriers.empty() ? 0 : barriers.back()) + (llvm::isa<mlir::NVVM::Barrier0Op>(op) ? 1 : 0));
    }
  }
  Span span_of(memref::AllocOp alloc, mlir::Block& block) const {
    Span span{&block, SIZE_MAX, 0, nullptr};
    llvm::SmallPtrSet<mlir::Region*, 2> regions;
    llvm::SetVector<mlir::Value> addresses;
    addresses.insert(alloc);
    for (size_t i = 0; i < addresses.size(); ++i) {
      for (mlir::Operation* user : addresses[i].getUsers()) {
        const mlir::Operation* own = block.findAncestorOpInBlock(*user);
        if (!own || carries_on(user)) return Span{};
        const size_t number = numbers_.lookup(own);
        span.first = std::min(span.first, number);
        span.last = std::max(span.last, number);
        regions.insert(region_inside(own, user));
        if (user->getNumRegions() == 0 && !reads(user)) addresses.insert(user->result_begin(), user->result_end());
      }
    }
    if (span.first == span.last && regions.size() == 1) span.only = *regions.begin();
    return span;
  }
  bool meet_between(Span a, Span b) const {
    if (!a.block || a.block != b.block) return false;
    if (a.first > b.first) std::swap(a, b);
    const std::vector<size_t>& barriers = barriers_.find(a.block)->second;
    if (a.last >= b.first || b.first >= barriers.size() || barriers[b.first] == barriers[a.last]) return false;
    // The next turn begins with one when all are done with the other.
    return a.block == block_ || barriers.back() > barriers[b.last] || barriers[a.first] > 0;
  }
  // The branch of `own` that `user` stands in, where all threads meet in it.
  static mlir::Region* region_inside(const mlir::Operation* own, mlir::Operation* user) {
    mlir::Region* region = user->getParentRegion();
    while (region && region->getParentOp() != own) region = region->getParentOp()->getParentRegion();
    const bool is_branch = region && llvm::isa<mlir::scf::IfOp>(own);
    return is_branch &&
                   region->walk([](mlir::NVVM::Barrier0Op) { return mlir::WalkResult::interrupt(); }).wasInterrupted()
               ? region
               : nullptr;
  }
  // What comes out of it is what stood in the memory.
  static bool reads(mlir::Operation* op) {
    return llvm::isa<memref::LoadOp, mlir::vector::LoadOp, mlir::LLVM::LoadOp, mlir::NVVM::LdMatrixOp>(op);
  }
  // Where an address goes on under another name, which isn't followed.
  static bool carries_on(mlir::Operation* op) {
    return op->hasTrait<mlir::OpTrait::IsTerminator>() || llvm::isa<mlir::LoopLikeOpInterface>(op);
  }

  mlir::Block* block_ = nullptr;
  llvm::DenseMap<const mlir::Operation*, size_t> numbers_;
  std::map<mlir::Block*, std::vector<size_t>> barriers_;  // How many there are up to each operation.
};

// Where the temporaries of a kernel lie: two that are apart in time may lie in the same place.
class Places {
 public:
  explicit Places(mlir::func::FuncOp kernel) : lives_(kernel) {}

  uint64_t add(memref::AllocOp alloc, uint64_t bytes) {
    const Place wanted{0, bytes, lives_.of(alloc)};
    uint64_t at = 0;
    for (const Place& other : by_offset_) {
      if (other.begin >= at + bytes) break;
      if (!lives_.are_apart(other.life, wanted.life)) at = std::max(at, other.begin + other.bytes);
    }
    const auto behind = llvm::find_if(by_offset_, [&](const Place& other) { return other.begin > at; });
    by_offset_.insert(behind, {at, bytes, wanted.life});
    used_ = std::max(used_, at + bytes);
    return at;
  }
  uint64_t used() const { return used_; }

 private:
  struct Place {
    uint64_t begin, bytes;
    Life life;
  };
  Lives lives_;
  std::vector<Place> by_offset_;
  uint64_t used_ = 0;
};

class Placement {
 public:
  Placement(mlir::func::FuncOp kernel, const TemporaryLimits& limits)
      : kernel_(kernel), limits_(limits), places_(kernel) {}

  mlir::LogicalResult run() {
    llvm::SmallVector<memref::AllocOp> allocs;
    kernel_.walk([&](memref::DeallocOp dealloc) { dealloc.erase(); });
    kernel_.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
    for (memref::AllocOp alloc : allocs) {
      if (mlir::failed(place(alloc))) return mlir::failure();
    }
    if (places_.used() > 0) {
      const auto used = static_cast<int64_t>(places_.used());
      kernel_->setAttr(kLocalMemoryBytes, mlir::OpBuilder(kernel_).getI64IntegerAttr(used));
    }
    return mlir::success();
  }

 private:
  mlir::LogicalResult place(memref::AllocOp alloc) {
    const std::optional<uint64_t> bytes = bound_bytes(alloc);
    if (!bytes) {
      return alloc.emitError("The kernel '") << kernel_.getSymName() << "' needs temporary memory of type "
                                             << alloc.getType() << ", whose size has no bound when compiling.";
    }
    if (*bytes <= limits_.stack_bytes && alloc.getType().hasStaticShape()) {
      mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&kernel_.getBody().front());
      auto stack =
          builder.create<memref::AllocaOp>(alloc.getLoc(), alloc.getType(), builder.getI64IntegerAttr(kAlignment));
      alloc.replaceAllUsesWith(stack.getResult());
      alloc.erase();
      return mlir::success();
    }
    const uint64_t at = places_.add(alloc, aligned(*bytes));
    if (places_.used() > limits_.local_bytes) {
      return alloc.emitError("The kernel '")
             << kernel_.getSymName() << "' needs " << places_.used() << " bytes of temporary memory; a workgroup has "
             << limits_.local_bytes << ".";
    }
    mlir::OpBuilder builder(alloc);
    const mlir::Value offset = builder.create<mlir::arith::ConstantIndexOp>(alloc.getLoc(), static_cast<int64_t>(at));
    auto view = builder.create<memref::ViewOp>(alloc.getLoc(), alloc.getType(), local_memory(), offset,
                                               alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view.getResult());
    alloc.erase();
    return mlir::success();
  }

  mlir::Value local_memory() {
    if (local_) return local_;
    auto module = kernel_->getParentOfType<mlir::ModuleOp>();
    const auto type = mlir::MemRefType::get({static_cast<int64_t>(limits_.local_bytes)},
                                            mlir::IntegerType::get(kernel_.getContext(), 8));
    if (!module.lookupSymbol(kLocalMemory)) {
      mlir::OpBuilder at_start = mlir::OpBuilder::atBlockBegin(module.getBody());
      at_start.create<memref::GlobalOp>(kernel_.getLoc(), kLocalMemory, at_start.getStringAttr("private"), type,
                                        mlir::Attribute(), /*constant=*/false, mlir::IntegerAttr());
    }
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(&kernel_.getBody().front());
    local_ = builder.create<memref::GetGlobalOp>(kernel_.getLoc(), type, kLocalMemory);
    return local_;
  }

  mlir::func::FuncOp kernel_;
  const TemporaryLimits& limits_;
  Places places_;
  mlir::Value local_;
};

}  // namespace

uint64_t temporary_bytes(mlir::Operation* code) {
  uint64_t bytes = 0;
  code->walk([&](memref::AllocOp alloc) { bytes += aligned(bound_bytes(alloc).value_or(0)); });
  return bytes;
}

uint64_t placed_bytes(mlir::func::FuncOp kernel) {
  Places places(kernel);
  kernel.walk([&](memref::AllocOp alloc) { places.add(alloc, aligned(bound_bytes(alloc).value_or(0))); });
  return places.used();
}

mlir::LogicalResult place_temporaries(mlir::ModuleOp kernels, const TemporaryLimits& limits) {
  for (auto kernel : kernels.getOps<mlir::func::FuncOp>()) {
    if (!kernel.isExternal() && mlir::failed(Placement(kernel, limits).run())) return mlir::failure();
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::codegen
