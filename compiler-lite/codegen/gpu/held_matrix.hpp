// HeldMatrix: what kernels of factorizations have in common: a matrix, or columns of it, that a block of threads keeps in shared memory.
#pragma once

#include "compiler-lite/codegen/gpu/thread_code.hpp"
#include "compiler-lite/codegen/matrix_work.hpp"

namespace baton::compiler_lite::codegen::gpu {

// The type of a kernel's binding, of those that kBindingTypes names.
mlir::MemRefType binding_type(mlir::func::FuncOp kernel, unsigned number);

class HeldMatrix {
 public:
  HeldMatrix(mlir::func::FuncOp kernel, const Features& features);

 protected:
  using Value = mlir::Value;

  Value zero() { return code_.number(element_, 0); }
  Value one() { return code_.number(element_, 1); }
  Value place(Value i, Value j) { return code_.add(code_.times(i, pitch_), j); }
  Value at(Value i, Value j) { return code_.load(held_, place(i, j)); }
  void put(Value value, Value i, Value j) { code_.store(value, held_, place(i, j)); }
  void each_column(int64_t count, llvm::function_ref<void(Value)> body) {
    code_.loop(code_.index(0), code_.index(count), code_.index(1), body);
  }
  void for_all(int64_t rows, int64_t columns, llvm::function_ref<void(Value, Value)> body) {
    code_.strided(rows * columns,
                  [&](Value number) { body(code_.quotient(number, columns), code_.remainder(number, columns)); });
  }

  // Into the block's memory.
  void move_all(int64_t rows, int64_t columns, llvm::function_ref<Value(Value, Value)> read) {
    code_.move(
        rows * columns,
        [&](Value number) { return read(code_.quotient(number, columns), code_.remainder(number, columns)); },
        [&](Value number, Value value) {
          put(value, code_.quotient(number, columns), code_.remainder(number, columns));
        });
  }
  // The columns that are the block's.
  void read_matrix() {
    held_ = code_.shared(rows_ * pitch_, element_);
    const Value given = code_.binding(0);
    move_all(rows_, columns_, [&](Value i, Value j) { return code_.load(given, {matrix_, i, code_.add(begin_, j)}); });
    code_.barrier();
  }
  void write_matrix(Value made) {
    for_all(rows_, columns_, [&](Value i, Value j) {
      code_.store(at(i, j), made, {matrix_, i, code_.add(begin_, j)});
    });
  }

  // What one warp does; threads without warps meet in it, all of them do it, and the first ones write.
  void by_first_warp(llvm::function_ref<void()> body) {
    if (!code_.joins_in_registers(kWarp) || warps_ == 1) return body();
    code_.when(code_.is_same(warp_, code_.index(0)), body);
  }
  void by_first_thread(llvm::function_ref<void()> body) {
    code_.when(code_.is_same(code_.thread(), code_.index(0)), body);
  }
  void before_lanes_join_again() {
    if (!code_.joins_in_registers(kWarp)) code_.barrier();
  }

  ThreadCode code_;
  mlir::MemRefType type_;
  mlir::Type element_;
  int64_t rows_, columns_, pitch_, warps_;
  Value matrix_, lane_, warp_, held_, begin_;
};

}  // namespace baton::compiler_lite::codegen::gpu
