// CompiledGroups: groups of tensor operations, compiled in the test and run on a local device. The tests see numbers
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hal/drivers/local/driver.hpp"

namespace baton::compiler_lite::codegen {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  template <typename T>
  static Tensor of(std::vector<int64_t> shape, const std::vector<T>& values) {
    Tensor tensor{std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    return tensor;
  }
  // Filled with bytes that no kernel writes.
  template <typename T>
  static Tensor empty(std::vector<int64_t> shape) {
    size_t count = 1;
    for (const int64_t size : shape) count *= static_cast<size_t>(size);
    return {std::move(shape), std::vector<std::byte>(count * sizeof(T), std::byte{0xA5})};
  }
  template <typename T>
  std::vector<T> as() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

// An argument of a group: a tensor, or the bits of a scalar.
struct Argument {
  Argument(Tensor& value) : tensor(&value) {}  // NOLINT: written as an argument
  explicit Argument(uint64_t value) : bits(value) {}
  Tensor* tensor = nullptr;
  uint64_t bits = 0;
};
inline Argument scalar(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return Argument(uint64_t{bits});
}
inline Argument scalar(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return Argument(bits);
}
inline Argument scalar(int64_t value) { return Argument(static_cast<uint64_t>(value)); }

struct CompileOptions {
  std::vector<std::string> levels = {};  // "baseline", "avx2", "avx512"; all without one.
  std::vector<std::string> objects = {};
  std::vector<std::string> search_paths = {};
  bool embed = false;         // Objects as bytes under their names instead of as files.
  bool from_kernels = false;  // The text has entry points already.
  bool aarch64 = false;
  bool sanitize = false;  // So does BATON_TEST_SANITIZE in the environment.
  hal::drivers::local::Options device = {};
};

// The levels that this processor can run.
std::vector<std::string> host_levels();

// A recorded dispatch with buffers of its own.
class RecordedGroup {
 public:
  virtual ~RecordedGroup() = default;
  virtual void run() = 0;
  // Copies the buffers back into the tensors they were made from.
  virtual void fetch() = 0;
};

class CompiledGroups {
 public:
  explicit CompiledGroups(std::string_view text, CompileOptions options = {});
  ~CompiledGroups();

  // Empty when all went well.
  const std::string& messages() const;
  const std::vector<char>& bytes() const;
  // The code as LLVM IR.
  std::string llvm_ir() const;
  // How many workgroups the group takes for these arguments.
  uint32_t workgroups(const std::string& name, const std::vector<Argument>& arguments,
                      const std::vector<Tensor*>& results);
  // Runs a group; the tensors of tied arguments and the results are overwritten. Empty, or why it failed.
  std::string run(const std::string& name, const std::vector<Argument>& arguments, const std::vector<Tensor*>& results);
  // The same to be run often; null when it can't be recorded.
  std::unique_ptr<RecordedGroup> record(const std::string& name, const std::vector<Argument>& arguments,
                                        const std::vector<Tensor*>& results);
  // What compiling took, from parsed text to bytes.
  double compile_ms() const;
  // Runs an entry point of the text's own.
  std::string run_kernel(const std::string& name, const std::vector<uint32_t>& constants,
                         const std::vector<Tensor*>& bindings, uint32_t workgroups);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace baton::compiler_lite::codegen
