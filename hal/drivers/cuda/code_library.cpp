#include "hal/drivers/cuda/code_library.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "hal/code_format.hpp"
#include "hal/drivers/cuda/code_image.hpp"
#include "hal/drivers/cuda/variants.hpp"

namespace baton::hal::drivers::cuda {

Result<std::vector<CodeParameter>> parameters_of(const Symbols& symbols, CUkernel kernel) {
  std::vector<CodeParameter> parameters;
  while (true) {
    CodeParameter one{};
    const CUresult result = symbols.cuKernelGetParamInfo(kernel, parameters.size(), &one.offset, &one.bytes);
    if (result == CUDA_ERROR_INVALID_VALUE) return parameters;  // Beyond the last.
    if (result != CUDA_SUCCESS) return cuda_failure(symbols, result, "cuKernelGetParamInfo");
    parameters.push_back(one);
  }
}

std::string sizes_text(std::span<const CodeParameter> parameters) {
  std::string sizes;
  for (const CodeParameter& one : parameters) sizes += text(sizes.empty() ? "" : ", ", one.bytes);
  return sizes;
}

Status wrong_arguments(std::string_view kernel, std::span<const CodeParameter> parameters,
                       std::span<const uint64_t> given) {
  std::string sizes;
  for (const uint64_t bytes : given) sizes += text(sizes.empty() ? "" : ", ", bytes);
  return failure(StatusCode::kInvalidArgument, "Kernel '", kernel, "' takes ", parameters.size(), " parameters of (",
                 sizes_text(parameters), ") bytes; ", given.size(), " of (", sizes, ") bytes are given.");
}

namespace {

// PTX is text that ends with a zero, which files do not bring.
class PtxText {
 public:
  explicit PtxText(std::span<const std::byte> code) : code_(code) {
    if (code_kind(code) == CodeKind::kPtx) text_.assign(reinterpret_cast<const char*>(code.data()), code.size());
  }
  const void* image() const {
    return code_kind(code_) == CodeKind::kPtx ? static_cast<const void*>(text_.c_str()) : code_.data();
  }

 private:
  std::span<const std::byte> code_;
  std::string text_;
};

// What can be told of machine code without the driver.
Status check_machine_code(std::span<const std::byte> code, const DeviceFacts& facts) {
  BATON_TRY_CONTEXT(check_image(code), "while loading ", code.size(), " bytes of ", code_kind_name(code_kind(code)));
  const int arch = cubin_arch(code);
  if (arch == 0 || (arch / 10 == facts.major && arch <= facts.arch())) return {};
  return failure(StatusCode::kFailedPrecondition, "The cubin is machine code for sm_", arch, "; the device is sm_",
                 facts.arch(), ".");
}

}  // namespace

// Named here for as long as the process runs, so that a leak checker sees that it is meant.
void CodeLibrary::leave_loaded() {
  static std::mutex mutex;
  static std::vector<CUlibrary>& left = *new std::vector<CUlibrary>;
  const std::lock_guard lock(mutex);
  left.push_back(std::exchange(handle_, nullptr));
}

CodeLibrary::~CodeLibrary() {
  if (!handle_) return;
  const ContextScope scope = context_.enter();
  context_.symbols().cuLibraryUnload(handle_);
}

// The driver accepts nearly anything and reads it only when a kernel is asked for; then it reports only that there is
// none (seen with CUDA 13.0). explain() gets the reason out of it.
Result<std::unique_ptr<CodeLibrary>> CodeLibrary::load(PrimaryContext& context, std::span<const std::byte> code) {
  BATON_TRY(check_machine_code(code, context.facts()));
  std::unique_ptr<CodeLibrary> library(new CodeLibrary(context));
  const PtxText text_of(code);
  const CUresult result =
      context.symbols().cuLibraryLoadData(&library->handle_, text_of.image(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (result != CUDA_SUCCESS) {
    library->handle_ = nullptr;
    return library->explain(code, context.status_of(result, "cuLibraryLoadData"));
  }
  if (Status listed = library->list_kernels(); !listed.ok()) return library->explain(code, std::move(listed));
  return library;
}

// Why there are no kernels in the code: what the driver says when it has to load it at once, else `found`.
Status CodeLibrary::explain(std::span<const std::byte> code, Status found) const {
  const Symbols& symbols = context_.symbols();
  const PtxText text_of(code);
  char log[8192] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  CUmodule module = nullptr;
  const CUresult result = symbols.cuModuleLoadDataEx(&module, text_of.image(), 2, options, values);
  if (result == CUDA_SUCCESS) symbols.cuModuleUnload(module);
  Status status = result == CUDA_SUCCESS ? std::move(found) : context_.status_of(result, "cuModuleLoadDataEx");
  status = std::move(status).with_context(
      text("while loading ", code.size(), " bytes of ", code_kind_name(code_kind(code))));
  if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    status =
        std::move(status).with_context(text("it is PTX of version ", ptx_version(code), "; the driver is for CUDA ",
                                            version_text(context_.facts().driver_version)));
  }
  std::string_view said(log);
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.remove_suffix(1);
  return said.empty() ? std::move(status) : std::move(status).with_context(text("the driver's compiler said: ", said));
}

Status CodeLibrary::list_kernels() {
  const Symbols& symbols = context_.symbols();
  unsigned count = 0;
  BATON_CUDA_TRY(symbols, cuLibraryGetKernelCount, &count, handle_);
  if (count == 0) return failure(StatusCode::kInvalidArgument, "The code has no kernels.");
  std::vector<CUkernel> handles(count);
  BATON_CUDA_TRY(symbols, cuLibraryEnumerateKernels, handles.data(), count, handle_);
  for (CUkernel handle : handles) {
    const char* name = nullptr;
    BATON_CUDA_TRY(symbols, cuKernelGetName, &name, handle);
    kernels_.push_back({name, handle});
  }
  // The driver promises no order.
  std::sort(kernels_.begin(), kernels_.end(), [](const Named& a, const Named& b) { return a.name < b.name; });
  return {};
}

Result<CUkernel> CodeLibrary::find(std::string_view name) const {
  const auto found = std::find_if(kernels_.begin(), kernels_.end(), [&](const Named& one) { return one.name == name; });
  if (found != kernels_.end()) return found->handle;
  std::vector<std::string_view> names;
  for (const Named& kernel : kernels_) names.push_back(kernel.name);
  const std::string near = nearest_names(name, names);
  return failure(StatusCode::kNotFound, "The code has no kernel '", name, "' (", names.size(), " kernels)",
                 near.empty() ? "." : "; ", near);
}

}  // namespace baton::hal::drivers::cuda
