// CodeLibrary: device code as the CUDA driver has it (cuLibrary*: it belongs to no context), with its kernels by name.
//
// Executables and KernelCode both begin here: the bytes are checked before the driver sees them, and what it says of
// bad ones becomes a sentence.
// Threads: immutable.
#pragma once

#include <memory>
#include <vector>

#include "hal/drivers/cuda/primary_context.hpp"

namespace baton::hal::drivers::cuda {

// A parameter as the code lays it out.
struct CodeParameter {
  size_t offset;
  size_t bytes;
};

Result<std::vector<CodeParameter>> parameters_of(const Symbols& symbols, CUkernel kernel);
// "8, 8, 4".
std::string sizes_text(std::span<const CodeParameter> parameters);
// "Kernel 'scale' takes 2 parameters of (8, 4) bytes; 1 of (4) bytes was given."
Status wrong_arguments(std::string_view kernel, std::span<const CodeParameter> parameters,
                       std::span<const uint64_t> given);

class CodeLibrary {
 public:
  struct Named {
    std::string name;
    CUkernel handle;
  };

  // Checks and loads, and lists the kernels. `context` is current, and outlives it.
  static Result<std::unique_ptr<CodeLibrary>> load(PrimaryContext& context, std::span<const std::byte> code);
  ~CodeLibrary();
  CodeLibrary(const CodeLibrary&) = delete;
  CodeLibrary& operator=(const CodeLibrary&) = delete;

  CUlibrary handle() const { return handle_; }
  std::span<const Named> kernels() const { return kernels_; }  // Sorted by name.
  Result<CUkernel> find(std::string_view name) const;
  // The code stays loaded when this goes: a launch may still run it.
  void leave_loaded();

 private:
  explicit CodeLibrary(PrimaryContext& context) : context_(context) {}
  Status explain(std::span<const std::byte> code, Status found) const;
  Status list_kernels();

  PrimaryContext& context_;
  CUlibrary handle_ = nullptr;
  std::vector<Named> kernels_;
};

}  // namespace baton::hal::drivers::cuda
