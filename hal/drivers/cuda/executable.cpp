#include "hal/drivers/cuda/executable.hpp"

#include <algorithm>

#include "hal/drivers/cuda/linked_functions.hpp"
#include "hal/drivers/cuda/required_block.hpp"
#include "hal/drivers/cuda/variants.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// A parameter behind the pointers, in words; one that is no whole number of them holds one constant.
uint32_t words_of(const CodeParameter& parameter) {
  return parameter.bytes < 4 ? 1 : static_cast<uint32_t>((parameter.bytes + 3) / 4);
}

// How many bindings there are where the program does not tell their places: they come first. All pointers that begin
// the list, unless the program knows better.
size_t leading_bindings(std::span<const CodeParameter> parameters, const EntryPoint* expected) {
  size_t pointers = 0;
  while (pointers < parameters.size() && parameters[pointers].bytes == sizeof(CUdeviceptr)) ++pointers;
  const bool known = expected && expected->layout_known && expected->binding_count <= pointers;
  return known ? expected->binding_count : pointers;
}

Status no_binding(std::string_view kernel, std::span<const CodeParameter> parameters, size_t index) {
  return failure(StatusCode::kInvalidArgument, "The program says that a binding is parameter ", index, " of kernel '",
                 kernel, "', whose ", parameters.size(), " parameters have (", sizes_text(parameters), ") bytes.");
}

Result<std::vector<bool>> bindings_at(std::string_view kernel, std::span<const CodeParameter> parameters,
                                      std::span<const uint32_t> places) {
  std::vector<bool> chosen(parameters.size());
  for (const uint32_t place : places) {
    if (place >= parameters.size() || parameters[place].bytes != sizeof(CUdeviceptr)) {
      return no_binding(kernel, parameters, place);
    }
    chosen[place] = true;
  }
  return chosen;
}

Result<std::vector<bool>> bindings_among(std::string_view kernel, std::span<const CodeParameter> parameters,
                                         std::span<const KernelParameter> told) {
  std::vector<bool> chosen(parameters.size());
  bool fits = told.size() == parameters.size();
  for (size_t i = 0; fits && i < told.size(); ++i) {
    fits = told[i].bytes == parameters[i].bytes;
    chosen[i] = told[i].is_binding;
  }
  if (fits) return chosen;
  std::vector<uint64_t> sizes;
  for (const KernelParameter& one : told) sizes.push_back(one.bytes);
  return wrong_arguments(kernel, parameters, sizes);
}

// For each parameter, whether it is a binding.
Result<std::vector<bool>> choose_bindings(std::string_view kernel, std::span<const CodeParameter> parameters,
                                          const EntryPoint* expected) {
  if (expected && !expected->parameters.empty()) return bindings_among(kernel, parameters, expected->parameters);
  if (expected && !expected->binding_places.empty()) return bindings_at(kernel, parameters, expected->binding_places);
  std::vector<bool> chosen(parameters.size());
  std::fill_n(chosen.begin(), leading_bindings(parameters, expected), true);
  return chosen;
}

}  // namespace

// Behind all others: a length for each binding, and where to write what failed. Constants are words, or what takes
// several; the lengths are as many as the pointers that the list begins with. How many parameters stand before them.
size_t Executable::take_checking_parameters(Kernel& kernel, std::span<const CodeParameter> parameters) const {
  const auto is_wide = [](const CodeParameter& one) { return one.bytes == sizeof(uint64_t); };
  const auto wide_end = std::find_if_not(parameters.rbegin(), parameters.rend(), is_wide);
  const auto wide = static_cast<size_t>(wide_end - parameters.rbegin());
  if (!checks_accesses() || wide == 0) return parameters.size();
  const size_t bindings = wide == parameters.size() ? (wide - 1) / 2 : wide - 1;
  const size_t visible = parameters.size() - bindings - 1;
  for (const CodeParameter& one : parameters.subspan(visible, bindings)) {
    kernel.lengths.push_back(static_cast<uint16_t>(one.offset));
  }
  kernel.failed_access = static_cast<uint16_t>(parameters.back().offset);
  return visible;
}

Status Executable::read_access_checks(Memory& memory) {
  CUdeviceptr address = 0;
  size_t bytes = 0;
  const CUresult found =
      context_->symbols().cuLibraryGetGlobal(&address, &bytes, library_->handle(), kAccessChecksSymbol);
  if (found == CUDA_ERROR_NOT_FOUND) return {};
  BATON_TRY(context_->status_of(found, "cuLibraryGetGlobal"));
  checks_accesses_ = true;
  std::string rows(bytes, '\0');
  BATON_TRY(memory.copy_now(reinterpret_cast<CUdeviceptr>(rows.data()), address, bytes));
  hal::read_access_checks(rows, access_checks_);
  return {};
}

Status Executable::access_refused(uint32_t entry_point, const FailedAccess& failed) const {
  const bool is_known = failed.number <= access_checks_.size();
  const AccessCheck check = is_known ? access_checks_[failed.number - 1] : AccessCheck{"accesses memory", ""};
  return hal::access_refused({entry_points()[entry_point].name, name(), check.access, check.line, failed});
}

// Fills in where bindings and constants go, and checks that they are as many as the program says.
Status Executable::lay_out(Kernel& kernel, EntryPoint& entry, const EntryPoint* expected) const {
  BATON_TRY_ASSIGN(const std::vector<CodeParameter> all, parameters_of(context_->symbols(), kernel.handle));
  const auto parameters = std::span(all).first(take_checking_parameters(kernel, all));
  BATON_TRY_ASSIGN(const std::vector<bool> is_binding, choose_bindings(entry.name, parameters, expected));
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (is_binding[i]) {
      kernel.pointers.push_back(static_cast<uint16_t>(parameters[i].offset));
      continue;
    }
    for (uint32_t word = 0; word < words_of(parameters[i]); ++word) {
      const size_t bytes = std::min<size_t>(parameters[i].bytes - 4 * word, 4);
      kernel.constants.push_back(
          {static_cast<uint16_t>(parameters[i].offset + 4 * word), static_cast<uint16_t>(bytes)});
    }
  }
  for (const CodeParameter& one : all) kernel.offsets.push_back(static_cast<uint16_t>(one.offset));
  if (!all.empty()) kernel.parameter_bytes = static_cast<uint32_t>(all.back().offset + all.back().bytes);
  size_t used_bytes = 0;
  for (const CodeParameter& one : all) used_bytes += one.bytes;
  kernel.has_gaps = used_bytes != kernel.parameter_bytes;
  entry.binding_count = static_cast<uint32_t>(kernel.pointers.size());
  entry.constant_count = static_cast<uint32_t>(kernel.constants.size());
  if (expected && expected->layout_known &&
      (expected->binding_count != entry.binding_count || expected->constant_count != entry.constant_count)) {
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

// A program that says nothing has one thread.
Status Executable::require_block(Kernel& kernel, EntryPoint& entry) const {
  std::optional<std::array<uint32_t, 3>> required;
  if (!ptx_.empty()) {
    required = ptx_required_block(ptx_, entry.name);
  } else if (code_kind(code_) == CodeKind::kCubin) {
    required = cubin_required_block(code_, entry.name);
  }
  if (!required || std::equal(required->begin(), required->end(), kernel.block)) return {};
  const bool unsaid = kernel.block[0] == 1 && kernel.block[1] == 1 && kernel.block[2] == 1;
  if (!unsaid) {
    return failure(StatusCode::kInvalidArgument, "Kernel '", entry.name, "' requires workgroups of ", (*required)[0],
                   "x", (*required)[1], "x", (*required)[2], "; the program launches it with ", kernel.block[0], "x",
                   kernel.block[1], "x", kernel.block[2], ".");
  }
  std::copy(required->begin(), required->end(), kernel.block);
  std::copy(required->begin(), required->end(), entry.workgroup_size);
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

Status Executable::adopt(std::string_view name, CUkernel handle, const EntryPoint* expected) {
  Kernel kernel;
  EntryPoint entry;
  kernel.handle = handle;
  kernel.name = name;
  entry.name = name;
  if (expected) {
    std::copy(std::begin(expected->workgroup_size), std::end(expected->workgroup_size), entry.workgroup_size);
    entry.local_memory_bytes = expected->local_memory_bytes;
    entry.launch = expected->launch;
  }
  for (int axis = 0; axis < 3; ++axis) kernel.block[axis] = std::max(entry.workgroup_size[axis], 1u);
  BATON_TRY(require_block(kernel, entry));
  kernel.shared_bytes = entry.local_memory_bytes;
  BATON_TRY(lay_out(kernel, entry, expected));
  BATON_TRY(check_launch(kernel, entry));
  BATON_TRY(set_attributes(kernel, entry));
  kernels_.push_back(std::move(kernel));
  entry_points_.push_back(std::move(entry));
  return {};
}

// The driver copies what was linked.
Status Executable::load(const Code& code) {
  code_ = code.variant.data;
  if (code_kind(code_) == CodeKind::kPtx) {
    ptx_ = ptx_without_comments({reinterpret_cast<const char*>(code_.data()), code_.size()});
  }
  std::vector<std::byte> linked;
  if (code.functions) {
    BATON_TRY_ASSIGN(linked, link_functions(*context_, code.variant.data, *code.functions));
  }
  BATON_TRY_ASSIGN(library_, CodeLibrary::load(*context_, linked.empty() ? code.variant.data : linked));
  return {};
}

Result<Ref<hal::Executable>> Executable::make(Ref<PrimaryContext> context, const void* device, const Code& code) {
  const ExecutableRequest& request = code.request;
  if (!request.constants.empty()) {
    return failure(StatusCode::kUnimplemented, "CUDA code takes no specialization constants; ",
                   request.constants.size(), " given.");
  }
  BATON_TRY(context->check());
  const ContextScope scope = context->enter();
  auto executable = make_ref<Executable>(std::move(context), request, device);
  BATON_TRY(executable->load(code));
  BATON_TRY(executable->read_access_checks(code.memory));
  if (request.expected.empty()) {
    for (const CodeLibrary::Named& kernel : executable->library_->kernels()) {
      BATON_TRY(executable->adopt(kernel.name, kernel.handle, nullptr));
    }
    executable->forget_code();
    return Ref<hal::Executable>(std::move(executable));
  }
  for (const EntryPoint& expected : request.expected) {
    BATON_TRY_ASSIGN(const CUkernel handle, executable->library_->find(expected.name));
    BATON_TRY(executable->adopt(expected.name, handle, &expected));
  }
  executable->forget_code();
  return Ref<hal::Executable>(std::move(executable));
}

}  // namespace baton::hal::drivers::cuda
