#include "hal/drivers/cuda/executable.hpp"

#include <algorithm>

#include "hal/drivers/cuda/code_image.hpp"
#include "hal/drivers/cuda/variants.hpp"

namespace baton::hal::drivers::cuda {
namespace {

struct Parameter {
  size_t offset;
  size_t bytes;
};

Result<std::vector<Parameter>> parameters_of(const Symbols& symbols, CUkernel kernel) {
  std::vector<Parameter> parameters;
  while (true) {
    Parameter one{};
    const CUresult result = symbols.cuKernelGetParamInfo(kernel, parameters.size(), &one.offset, &one.bytes);
    if (result == CUDA_ERROR_INVALID_VALUE) return parameters;  // Beyond the last.
    if (result != CUDA_SUCCESS) return cuda_failure(symbols, result, "cuKernelGetParamInfo");
    parameters.push_back(one);
  }
}

std::string sizes_text(std::span<const Parameter> parameters) {
  std::string sizes;
  for (const Parameter& one : parameters) sizes += text(sizes.empty() ? "" : ", ", one.bytes);
  return sizes;
}

// A parameter behind the pointers, in words; one that is no whole number of them holds one constant.
uint32_t words_of(const Parameter& parameter) {
  return parameter.bytes < 4 ? 1 : static_cast<uint32_t>((parameter.bytes + 3) / 4);
}

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

Executable::~Executable() {
  if (!library_) return;
  const ContextScope scope = context_->enter();
  context_->symbols().cuLibraryUnload(library_);
}

// The driver takes nearly anything, and looks at it when somebody asks for its kernels; then it says only that there
// are none (seen with CUDA 13.0). explain() asks it for more.
Status Executable::load(std::span<const std::byte> code) {
  const PtxText text_of(code);
  const CUresult result =
      context_->symbols().cuLibraryLoadData(&library_, text_of.image(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (result == CUDA_SUCCESS) return {};
  library_ = nullptr;
  return explain(code, context_->status_of(result, "cuLibraryLoadData"));
}

// Why there are no kernels in the code: what the driver says when it has to load it at once, else `found`.
Status Executable::explain(std::span<const std::byte> code, Status found) const {
  const Symbols& symbols = context_->symbols();
  const PtxText text_of(code);
  char log[8192] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  CUmodule module = nullptr;
  const CUresult result = symbols.cuModuleLoadDataEx(&module, text_of.image(), 2, options, values);
  if (result == CUDA_SUCCESS) symbols.cuModuleUnload(module);
  Status status = result == CUDA_SUCCESS ? std::move(found) : context_->status_of(result, "cuModuleLoadDataEx");
  status = std::move(status).with_context(
      text("while loading ", code.size(), " bytes of ", code_kind_name(code_kind(code))));
  if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    status =
        std::move(status).with_context(text("it is PTX of version ", ptx_version(code), "; the driver is for CUDA ",
                                            version_text(context_->facts().driver_version)));
  }
  std::string_view said(log);
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.remove_suffix(1);
  return said.empty() ? std::move(status) : std::move(status).with_context(text("the driver's compiler said: ", said));
}

Result<std::vector<Executable::Named>> Executable::list_kernels() const {
  const Symbols& symbols = context_->symbols();
  unsigned count = 0;
  BATON_CUDA_TRY(symbols, cuLibraryGetKernelCount, &count, library_);
  if (count == 0) return failure(StatusCode::kInvalidArgument, "The code has no kernels.");
  std::vector<CUkernel> handles(count);
  BATON_CUDA_TRY(symbols, cuLibraryEnumerateKernels, handles.data(), count, library_);
  std::vector<Named> kernels;
  for (CUkernel handle : handles) {
    const char* name = nullptr;
    BATON_CUDA_TRY(symbols, cuKernelGetName, &name, handle);
    kernels.push_back({name, handle});
  }
  // The driver's order is nobody's promise.
  std::sort(kernels.begin(), kernels.end(), [](const Named& a, const Named& b) { return a.name < b.name; });
  return kernels;
}

// Fills in where bindings and constants go, and checks that they are as many as the program says.
Status Executable::lay_out(Kernel& kernel, EntryPoint& entry, const EntryPoint* expected) const {
  BATON_TRY_ASSIGN(const std::vector<Parameter> parameters, parameters_of(context_->symbols(), kernel.handle));
  size_t binding_count = 0;
  while (binding_count < parameters.size() && parameters[binding_count].bytes == sizeof(CUdeviceptr)) ++binding_count;
  const bool checked = expected && expected->layout_known;
  const bool too_few_pointers = checked && expected->binding_count > binding_count;
  if (checked && !too_few_pointers) binding_count = expected->binding_count;
  for (size_t i = 0; i < binding_count; ++i) kernel.pointers.push_back(static_cast<uint16_t>(parameters[i].offset));
  for (size_t i = binding_count; i < parameters.size(); ++i) {
    for (uint32_t word = 0; word < words_of(parameters[i]); ++word) {
      const size_t bytes = std::min<size_t>(parameters[i].bytes - 4 * word, 4);
      kernel.constants.push_back(
          {static_cast<uint16_t>(parameters[i].offset + 4 * word), static_cast<uint16_t>(bytes)});
    }
  }
  for (const Parameter& one : parameters) kernel.offsets.push_back(static_cast<uint16_t>(one.offset));
  if (!parameters.empty()) {
    kernel.parameter_bytes = static_cast<uint32_t>(parameters.back().offset + parameters.back().bytes);
  }
  size_t used_bytes = 0;
  for (const Parameter& one : parameters) used_bytes += one.bytes;
  kernel.has_gaps = used_bytes != kernel.parameter_bytes;
  entry.binding_count = static_cast<uint32_t>(kernel.pointers.size());
  entry.constant_count = static_cast<uint32_t>(kernel.constants.size());
  if (too_few_pointers || (checked && expected->constant_count != kernel.constants.size())) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", entry.name, "' takes ", parameters.size(),
                   " parameters of (", sizes_text(parameters), ") bytes; the program passes ", expected->binding_count,
                   " bindings and ", expected->constant_count, " constants.");
  }
  if (kernel.parameter_bytes > kParameterBytesMax) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", entry.name, "' has ", kernel.parameter_bytes,
                   " bytes of parameters; at most ", kParameterBytesMax, " are possible.");
  }
  return {};
}

Status Executable::check_launch(const Kernel& kernel, const EntryPoint& entry) const {
  const DeviceFacts& facts = context_->facts();
  const Symbols& symbols = context_->symbols();
  const CUdevice device = context_->device();
  uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    threads *= kernel.block[axis];
    if (kernel.block[axis] <= static_cast<uint32_t>(facts.block_max[axis])) continue;
    return failure(StatusCode::kOutOfRange, "Kernel '", entry.name, "' has ", kernel.block[axis], " threads in ",
                   "xyz"[axis], "; the device takes ", facts.block_max[axis], ".");
  }
  int threads_max = 0, static_bytes = 0;
  BATON_CUDA_TRY(symbols, cuKernelGetAttribute, &threads_max, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel.handle,
                 device);
  BATON_CUDA_TRY(symbols, cuKernelGetAttribute, &static_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel.handle,
                 device);
  if (threads > static_cast<uint64_t>(threads_max)) {
    return failure(StatusCode::kResourceExhausted, "Kernel '", entry.name, "' has ", threads,
                   " threads in a workgroup; its registers and the device allow ", threads_max, ".");
  }
  const uint64_t shared = uint64_t{kernel.shared_bytes} + static_cast<uint64_t>(static_bytes);
  if (shared > static_cast<uint64_t>(facts.shared_bytes_max)) {
    return failure(StatusCode::kResourceExhausted, "Kernel '", entry.name, "' needs ", shared,
                   " bytes of shared memory (", static_bytes, " of them static); the device has ",
                   facts.shared_bytes_max, ".");
  }
  if (kernel.shared_bytes == 0) return {};
  BATON_CUDA_TRY(symbols, cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                 static_cast<int>(kernel.shared_bytes), kernel.handle, device);
  return {};
}

Status Executable::adopt(const Named& found, const EntryPoint* expected) {
  Kernel kernel;
  EntryPoint entry;
  kernel.handle = found.handle;
  kernel.name = found.name;
  entry.name = found.name;
  if (expected) {
    std::copy(std::begin(expected->workgroup_size), std::end(expected->workgroup_size), entry.workgroup_size);
    entry.local_memory_bytes = expected->local_memory_bytes;
    entry.launch = expected->launch;
  }
  for (int axis = 0; axis < 3; ++axis) kernel.block[axis] = std::max(entry.workgroup_size[axis], 1u);
  kernel.shared_bytes = entry.local_memory_bytes;
  BATON_TRY(lay_out(kernel, entry, expected));
  BATON_TRY(check_launch(kernel, entry));
  BATON_TRY(set_attributes(kernel, entry));
  kernels_.push_back(std::move(kernel));
  entry_points_.push_back(std::move(entry));
  return {};
}

Result<Ref<hal::Executable>> Executable::make(Ref<PrimaryContext> context, const void* device,
                                              const ExecutableRequest& request, const ExecutableVariant& variant) {
  if (!request.constants.empty()) {
    return failure(StatusCode::kUnimplemented, "CUDA code takes no specialization constants; ",
                   request.constants.size(), " given.");
  }
  BATON_TRY(context->check());
  const ContextScope scope = context->enter();
  auto executable = make_ref<Executable>(std::move(context), request, device);
  BATON_TRY(check_machine_code(variant.data, executable->context_->facts()));
  BATON_TRY(executable->load(variant.data));
  auto listed = executable->list_kernels();
  if (!listed.has_value()) return executable->explain(variant.data, std::move(listed).error());
  const std::vector<Named>& kernels = *listed;
  if (request.expected.empty()) {
    for (const Named& kernel : kernels) BATON_TRY(executable->adopt(kernel, nullptr));
    return Ref<hal::Executable>(std::move(executable));
  }
  for (const EntryPoint& expected : request.expected) {
    const auto found =
        std::find_if(kernels.begin(), kernels.end(), [&](const Named& one) { return one.name == expected.name; });
    if (found == kernels.end()) {
      std::vector<std::string_view> names;
      for (const Named& kernel : kernels) names.push_back(kernel.name);
      const std::string near = nearest_names(expected.name, names);
      return failure(StatusCode::kNotFound, "The code has no kernel '", expected.name, "' (", names.size(), " kernels)",
                     near.empty() ? "." : "; ", near);
    }
    BATON_TRY(executable->adopt(*found, &expected));
  }
  return Ref<hal::Executable>(std::move(executable));
}

}  // namespace baton::hal::drivers::cuda
