// FunctionWriter: one kernel, from the llvm dialect with structured control flow to SPIR-V.
//
// What values are in SPIR-V:
//   i1             a bool
//   iN up to 32    32 bits, the upper ones zero; signed operations extend the sign first
//   iN up to 64    64 bits, the same way
//   f32, f64       themselves
//   f16            an f32 that holds nothing but what an f16 can; rounded after each operation
//   bf16           its 16 bits, as an integer
//   pointers       64 bits of an address; in shared or private memory 32 bits of an offset. A pointer into shared memory
//                  that has lost its address space is 64 bits, too: no address has kSharedTag above
//   vectors, structs, arrays   one value for each scalar inside, in order
//
// Memory of buffers is reached by address, with the alignment that LLVM knows. Shared memory, private memory and
// constants are arrays of words: what is smaller than a word is cut from one, and written by atomic operations where
// other threads may write beside it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler-lite/codegen/vulkan/library_calls.hpp"
#include "compiler-lite/codegen/vulkan/spirv_writer.hpp"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen::vulkan {

using Tables = std::map<std::string, std::vector<uint32_t>>;

struct KernelShape {
  std::string name;
  unsigned binding_count = 0;
  unsigned constant_count = 0;
  unsigned workgroup_size[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
};

// Its methods are one for each kind of instruction: they write into one function, by one table of what its values are.
class FunctionWriter {
 public:
  FunctionWriter(SpirvWriter& writer, const Tables& tables, const LibraryCalls& libraries, const KernelShape& shape)
      : writer_(writer), tables_(tables), libraries_(libraries), shape_(shape) {}

  // Writes the function and its entry point. On failure problem() says why.
  mlir::LogicalResult write(mlir::LLVM::LLVMFuncOp function);
  const std::string& problem() const { return problem_; }

 private:
  // Where a pointer points.
  enum class Space { kBuffer, kShared, kPrivate };
  struct Place {
    Space space = Space::kBuffer;
    Id variable = 0;      // An array of words, where it is no buffer.
    bool shares = false;  // Threads may write it and read it.
    // In a buffer or in shared memory: the address says which, when the kernel runs.
    bool is_either = false;
  };

  // function_writer.cpp: the frame and control flow.
  void begin(mlir::LLVM::LLVMFuncOp function);
  void load_arguments(mlir::LLVM::LLVMFuncOp function);
  void fold_grid(Id record);
  void find_shared_bindings(mlir::LLVM::LLVMFuncOp function);
  mlir::LogicalResult write_region(mlir::Region& region);
  mlir::LogicalResult write_op(mlir::Operation* op);
  mlir::LogicalResult write_if(mlir::scf::IfOp op);
  mlir::LogicalResult write_loop(mlir::scf::WhileOp op);
  mlir::LogicalResult write_switch(mlir::scf::IndexSwitchOp op);
  mlir::LogicalResult write_arms(mlir::Operation* op, llvm::ArrayRef<Id> labels, llvm::ArrayRef<mlir::Region*> regions,
                                 Id merge);
  mlir::LogicalResult write_call(mlir::LLVM::CallOp op);
  Id thread_number();
  Id thread_place(uint32_t axis);
  void call_library(mlir::LLVM::CallOp op, const LibraryCalls::Callee& callee);
  void find_divergent(mlir::LLVM::LLVMFuncOp function);
  void begin_block(Id label);
  void branch(Id label) { writer_.effect(spv::kBranch, {label}); }
  mlir::LogicalResult refuse(mlir::Operation* op, const llvm::Twine& why = "");

  // values.cpp: what values are, constants, vectors and structs.
  mlir::LogicalResult check_type(mlir::Operation* op, mlir::Type type);
  static void flatten(mlir::Type type, llvm::SmallVectorImpl<mlir::Type>& scalars);
  static llvm::SmallVector<mlir::Type, 4> scalars_of(mlir::Type type);
  Id type_of(mlir::Type scalar);
  Id zero_of(mlir::Type scalar);
  Id constant_of(mlir::Type scalar, mlir::Attribute value);
  mlir::LogicalResult write_constant(mlir::LLVM::ConstantOp op);
  bool write_aggregate(mlir::Operation* op);
  const Ids& ids(mlir::Value value) { return values_[value]; }
  Id id(mlir::Value value) { return values_[value].front(); }
  void set(mlir::Operation* op, Ids made) { values_[op->getResult(0)] = std::move(made); }

  // integers.cpp
  bool write_integer(mlir::Operation* op);
  bool write_cast(mlir::Operation* op);
  Id integer(llvm::StringRef name, mlir::Type type, Id a, Id b);
  Id compare(mlir::LLVM::ICmpPredicate predicate, mlir::Type type, Id a, Id b);
  Id sign_extended(Id value, unsigned width);
  Id cut(Id value, unsigned width);
  Id resize(Id value, unsigned from, unsigned to);
  Id count_zeros(Id value, unsigned width, bool leading);
  Id count_ones(Id value, unsigned width);
  Id turned(bool bytes, Id value, unsigned width);
  Id convert_integer(mlir::Operation* op, mlir::Type from, mlir::Type to, Id value);
  Id number_of_width(unsigned width, uint64_t value);
  Id binary(spv::Op op, unsigned width, Id a, Id b);
  Id both_halves(Id low, Id high);
  static unsigned stored_width(unsigned width) { return width <= 32 ? 32 : 64; }

  // floats.cpp
  bool write_float(mlir::Operation* op);
  Id float_operation(mlir::Operation* op, mlir::Type type, llvm::ArrayRef<Id> operands);
  Id compare_floats(mlir::LLVM::FCmpPredicate predicate, Id a, Id b);
  Id is_of_classes(mlir::Type type, Id value, uint32_t classes);
  Id exact(Id made, mlir::Operation* op);
  Id convert_float(mlir::Operation* op, mlir::Type from, mlir::Type to, Id value);
  Id rounded_to_half(Id value);
  Id rounded_to_odd(Id value);
  Id half_bits(Id value);
  Id half_of_bits(Id bits);
  Id larger_or_smaller(mlir::Operation* op, mlir::Type type, Id a, Id b);
  Id bits_of(mlir::Type scalar, Id value);
  Id of_bits(mlir::Type scalar, Id bits);
  bool write_bitcast(mlir::Operation* op);

  // memory.cpp
  bool write_memory(mlir::Operation* op, mlir::LogicalResult& result);
  using Roots = llvm::SmallPtrSet<void*, 8>;
  static void collect_roots(mlir::Value pointer, Roots& seen, llvm::SmallVectorImpl<mlir::Value>& roots);
  Place place_of_root(mlir::Value root);
  Place place_of(mlir::Operation* op, mlir::Value pointer);
  Id base_of(const Place& place, mlir::Value pointer);
  static uint64_t size_of(mlir::Type type);
  static uint64_t alignment_of(mlir::Type type);
  void write_address(mlir::LLVM::GEPOp op);
  mlir::LogicalResult write_load(mlir::LLVM::LoadOp op);
  using Scalars = llvm::ArrayRef<mlir::Type>;
  Ids load_from(const Place& place, Scalars scalars, Id base, uint64_t alignment);
  void store_to(const Place& place, Scalars scalars, Id base, uint64_t alignment, const Ids& values);
  // Calls `access` for both places that an address may be in, in an arm of a choice each; joins what they give.
  Ids choose_place(const Place& place, mlir::Value pointer, Scalars scalars,
                   llvm::function_ref<Ids(const Place&, Id)> access);
  mlir::LogicalResult write_exchange(mlir::LLVM::AtomicCmpXchgOp op);
  mlir::LogicalResult write_store(mlir::LLVM::StoreOp op);
  Id address(const Place& place, Id base, uint64_t offset);
  Id load_word(const Place& place, Id offset);
  Id load_scalar(const Place& place, mlir::Type type, Id base, uint64_t offset, uint64_t alignment);
  void store_scalar(const Place& place, mlir::Type type, Id base, uint64_t offset, uint64_t alignment, Id value);
  Id load_bits(const Place& place, unsigned bytes, Id base, uint64_t offset, uint64_t alignment);
  void store_bits(const Place& place, unsigned bytes, Id base, uint64_t offset, uint64_t alignment, Id bits);
  Id load_buffer(const Place& place, Id type, Id address, uint64_t alignment);
  void store_buffer(const Place& place, Id type, Id address, uint64_t alignment, Id value);
  Id bit_shift(const Place& place, Id offset);
  Id buffer_type(mlir::Type scalar);
  static bool moves_as_float(const Place& place, mlir::Type scalar, uint64_t alignment);
  static size_t run_length(const Place& place, mlir::Type scalar, size_t count, uint64_t alignment);
  Ids load_run(const Place& place, mlir::Type scalar, Id at, size_t count);
  void store_run(const Place& place, mlir::Type scalar, Id at, llvm::ArrayRef<Id> values);
  void store_word_part(const Place& place, Id offset, unsigned bytes, Id bits);
  Id words_variable(spv::StorageClass storage, uint32_t count, Id initial = 0);
  Id shared_words();
  Id word_pointer(const Place& place, Id offset);

  SpirvWriter& writer_;
  const Tables& tables_;
  const LibraryCalls& libraries_;
  const KernelShape& shape_;
  std::string problem_;
  llvm::DenseMap<mlir::Value, Ids> values_;
  llvm::SmallVector<Id> variables_;  // Of the entry point.
  std::map<std::string, Id> table_variables_;
  llvm::DenseMap<mlir::Value, Id> private_variables_;
  llvm::DenseSet<mlir::Value> shared_bindings_;  // Arguments that the kernel reads and writes, with barriers.
  llvm::DenseSet<mlir::Value> divergent_;
  bool has_barriers_ = false;
  bool hands_over_ = false;  // Threads hand each other what they hold.
  Id workgroup_ = 0;         // Its number, in a grid that is folded; else 0.
  Id function_ = 0, shared_ = 0;
  Id block_ = 0;  // The label of the block that is written.
};

}  // namespace baton::compiler_lite::codegen::vulkan
