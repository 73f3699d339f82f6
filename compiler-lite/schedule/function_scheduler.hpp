// FunctionScheduler: takes the tensors out of one function.
//
// Each tensor is a place in a memory: a buffer, an offset, sizes. Operations on tensors become commands, which are
// gathered while the host's operations stay where they are; when the host needs what a command makes (it exports a
// tensor, reads an element, branches, calls), what was gathered becomes one recording that is executed there, and where
// the host must see the result, awaited.
//
// In flight, a memory has the fence that says when it is ready; no fence means that it is.
#pragma once

#include <memory>
#include <vector>

#include "compiler-lite/dialects/check/dialect.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/schedule/program.hpp"
#include "compiler-lite/schedule/recording.hpp"
#include "llvm/ADT/DenseSet.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite {

class FunctionScheduler {
 public:
  FunctionScheduler(util::FuncOp function, Program& program)
      : function_(function), program_(program), hal_(program.hal()), builder_(function.getContext()) {}

  mlir::LogicalResult run();

 private:
  struct Memory {
    mlir::Value buffer = {};  // Null while the commands that make it are gathered.
    mlir::Value fence = {};
    mlir::Value bytes = {};
    std::string constant_global = {};
    bool owned = false;    // Nobody but this function sees it.
    bool pending = false;  // Made by gathered commands.
    int storage = -1;      // In what is gathered.
    std::vector<mlir::Value> tensors = {};
    std::string name = {};
  };
  // Where a tensor lies. Sizes: one for each dimension that the type leaves open.
  struct Place {
    Memory* memory = nullptr;
    mlir::Value offset = {};  // Null: 0.
    llvm::SmallVector<mlir::Value> sizes = {};
  };

  // One operation; these leave what is erased at the end.
  mlir::LogicalResult schedule(mlir::Operation* op);
  mlir::LogicalResult schedule_tensor_op(mlir::Operation* op);
  mlir::LogicalResult schedule_constant(mlir::Operation* op, mlir::Attribute value);
  mlir::LogicalResult schedule_import(hal::TensorImportOp op);
  mlir::LogicalResult schedule_export(hal::TensorExportOp op);
  mlir::LogicalResult schedule_alias(hal::TensorAliasOp op);
  mlir::LogicalResult schedule_barrier(hal::TensorBarrierOp op);
  mlir::LogicalResult schedule_dispatch(flow::DispatchOp op);
  mlir::LogicalResult schedule_custom(flow::CallOp op);
  mlir::LogicalResult schedule_fill(mlir::linalg::FillOp op);
  mlir::Value load_element(mlir::Operation* op, mlir::Value tensor, mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> sizes_of_shape(mlir::tensor::ReshapeOp op);
  mlir::LogicalResult schedule_global_load(util::GlobalLoadOp op);
  mlir::LogicalResult schedule_global_store(util::GlobalStoreOp op);
  mlir::LogicalResult schedule_extract(mlir::tensor::ExtractOp op);
  mlir::LogicalResult schedule_extract_slice(mlir::tensor::ExtractSliceOp op);
  mlir::LogicalResult schedule_insert_slice(mlir::tensor::InsertSliceOp op);
  mlir::LogicalResult schedule_reshape(mlir::Operation* op);
  mlir::LogicalResult schedule_check(mlir::Operation* op, mlir::Value tensor, mlir::Attribute value);
  mlir::LogicalResult schedule_call(util::CallOp op);
  mlir::LogicalResult schedule_return(mlir::Operation* op);
  mlir::LogicalResult schedule_branch(mlir::Operation* op);
  mlir::LogicalResult schedule_select(mlir::Operation* op);
  // Operations of `hal` that are calls: fences, views.
  mlir::LogicalResult schedule_hal(mlir::Operation* op);
  // What the device answers, and whether it knows; the caller erases the operation.
  llvm::SmallVector<mlir::Value> schedule_query(hal::DeviceQueryOp op);

  // Tensors and memories.
  void convert_arguments(mlir::Block& block);
  Memory* make_memory(std::string name);
  Memory* make_pending(mlir::Operation* op, mlir::Value bytes);
  void place(mlir::Value tensor, Place place);
  Place& place_of(mlir::Value tensor);
  Place place_external(mlir::Location location, mlir::Value tensor, mlir::Value buffer,
                       llvm::ArrayRef<mlir::Value> sizes);
  llvm::SmallVector<mlir::Value> all_sizes(mlir::Location location, mlir::Value tensor);
  mlir::Value bytes_of_tensor(mlir::Location location, mlir::Type type, mlir::ValueRange sizes);
  mlir::Value element_offset(mlir::Location location, mlir::Value tensor, mlir::ValueRange indices);
  // The buffer that begins with the tensor.
  mlir::Value exact_buffer(mlir::Location location, mlir::Value tensor);
  // The operands for a tensor at a border of functions or blocks: its buffer and sizes.
  void expand(mlir::Location location, mlir::ValueRange values, llvm::SmallVectorImpl<mlir::Value>& out);
  void expand_types(mlir::TypeRange types, llvm::SmallVectorImpl<mlir::Type>& out);

  // Whether `op` may write over the tensor's memory: nobody else reads it later.
  bool may_overwrite(mlir::Operation* op, mlir::Value tensor);
  // The place of a result that continues an operand's memory, a copy of it where that is still needed.
  Place tie(mlir::Operation* op, mlir::Value operand);
  // Operands that a result continues, by number: the result takes the operand's binding.
  using Ties = llvm::DenseMap<unsigned, Place>;
  template <typename Op>
  Ties ties_of(Op op);
  // Gives each result its place: its tied operand's, or memory of its own, whose range goes to `add_range`. `giver` is
  // for messages.
  template <typename Op, typename AddRange>
  mlir::LogicalResult place_results(Op op, llvm::StringRef giver, const Ties& ties, AddRange&& add_range);
  bool used_later(const Memory& memory);

  // What is gathered.
  unsigned storage_of(Memory& memory);
  Range range_of(mlir::Value tensor, bool reads, bool writes);
  Range range_of(mlir::Location location, mlir::Value tensor, const Place& place, bool reads, bool writes);
  void gather(Command command, std::string text);
  // Executes what is gathered, before `op`; `signal` is told when it is done, a fence of its own otherwise.
  void flush(mlir::Operation* op, mlir::Value signal = {});
  mlir::Value allocate(mlir::Location location, mlir::Value& after, mlir::Value bytes, int memory_kind, int usage);
  mlir::Value slab_bytes(mlir::Location location, llvm::SmallVectorImpl<mlir::Value>& region_offsets);
  mlir::Value gathered_waits(mlir::Location location);
  mlir::Value join(mlir::Location location, llvm::ArrayRef<mlir::Value> fences);
  void await(mlir::Location location, llvm::ArrayRef<mlir::Value> tensors);
  mlir::Value device();

  mlir::FailureOr<llvm::SmallVector<mlir::Value>> inline_workgroup_count(flow::DispatchOp op, mlir::Block& body);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> own_grid_of(flow::DispatchOp op, const EntryPoint& entry);
  mlir::FailureOr<mlir::Value> condition_of(flow::DispatchOp op, const EntryPoint& entry);
  mlir::LogicalResult grid_of(flow::DispatchOp op, const EntryPoint& entry, Command& command);
  mlir::LogicalResult require_word(flow::DispatchOp op, mlir::Value value, bool has_sign);
  mlir::LogicalResult constants_of(flow::DispatchOp op, const EntryPoint& entry, Command& command);

  util::FuncOp function_;
  Program& program_;
  HalCalls& hal_;
  mlir::OpBuilder builder_;
  std::vector<std::unique_ptr<Memory>> memories_;
  llvm::DenseMap<mlir::Value, Place> places_;
  llvm::DenseSet<mlir::Operation*> done_;
  std::vector<mlir::Operation*> dead_;
  std::vector<mlir::BlockArgument> dead_arguments_;
  Recording gathered_;
  std::vector<Memory*> gathered_memories_;  // As gathered_.plan.storages.
  llvm::DenseMap<mlir::Value, unsigned> size_classes_;
  mlir::Value device_;
  unsigned recording_count_ = 0;
};

// The number of hal/element_type.hpp, or nothing for types that no buffer view has.
std::optional<int32_t> element_type_number(mlir::Type type);

}  // namespace baton::compiler_lite
