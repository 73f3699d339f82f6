#include "hal/drivers/cuda/kernel_code.hpp"

#include <algorithm>

#include "hal/drivers/cuda/variants.hpp"

namespace baton::hal::drivers::cuda {
namespace {

// 0, 1 and 2 stand for streams of whatever context is current.
bool names_no_device(uint64_t stream) { return stream <= 2; }

// The number of threads; when the product would overflow, a number that no device has.
uint64_t threads_of(const uint32_t (&block)[3]) {
  const uint64_t plane = uint64_t{block[0]} * block[1];
  return plane > UINT32_MAX ? UINT64_MAX : plane * block[2];
}

}  // namespace

// ---- The code -------------------------------------------------------------------------------------------------------

KernelCode::KernelCode(std::shared_ptr<const Symbols> symbols, const KernelCodeRequest& request, size_t device_count)
    : symbols_(std::move(symbols)), name_(request.name), data_(request.data), devices_(device_count) {
  for (const ExecutableVariant& variant : request.variants) {
    variants_.push_back({std::string(variant.format), variant.data, nullptr});
  }
}

Result<Ref<hal::KernelCode>> KernelCode::make(std::shared_ptr<const Symbols> symbols,
                                              const KernelCodeRequest& request) {
  int count = 0;
  BATON_CUDA_TRY(*symbols, cuDeviceGetCount, &count);
  return Ref<hal::KernelCode>(make_ref<KernelCode>(std::move(symbols), request, static_cast<size_t>(count)));
}

// What was launched may still run; the driver has no way to ask.
KernelCode::~KernelCode() {
  if (!launched_) return;
  for (Variant& variant : variants_) {
    if (variant.library) variant.library->leave_loaded();
  }
}

Status KernelCode::unload() {
  std::lock_guard lock(mutex_);
  for (const OnDevice& device : devices_) {
    if (!device.context) continue;
    const ContextScope scope = device.context->enter();
    BATON_TRY(device.context->status_of(symbols_->cuCtxSynchronize(), "cuCtxSynchronize"));
  }
  for (const auto& [kernel_name, kernel] : kernels_) kernel->forget_devices();
  for (Variant& variant : variants_) variant.library.reset();
  for (OnDevice& device : devices_) device.library = nullptr;
  launched_ = false;
  return {};
}

// The variant that fits the device best; loaded once for all that take it.
Result<CodeLibrary*> KernelCode::load(PrimaryContext& context) {
  Variant* best = nullptr;
  int32_t best_rank = -1;
  std::string reasons;
  for (Variant& variant : variants_) {
    const FormatMatch match = match_format(context.facts().arch(), variant.format);
    if (match.rank < 0) reasons += text("\n  '", variant.format, "': ", match.reason);
    if (match.rank <= best_rank) continue;
    best = &variant;
    best_rank = match.rank;
  }
  if (!best) {
    return failure(StatusCode::kNotFound, "None of the ", variants_.size(), " variants of kernel library '", name_,
                   "' fits the device (", context.facts().name, ", sm_", context.facts().arch(), ").", reasons);
  }
  if (best->library) return best->library.get();
  auto library = CodeLibrary::load(context, best->data);
  if (!library) {
    return std::move(library).error().with_context(
        text("while loading variant '", best->format, "' of kernel library '", name_, "'"));
  }
  best->library = std::move(*library);
  return best->library.get();
}

Result<KernelCode::OnDevice*> KernelCode::open(int32_t ordinal) {
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices_.size()) {
    return failure(StatusCode::kNotFound, "There is no CUDA device ", ordinal, "; there are ", devices_.size(), ".");
  }
  OnDevice& device = devices_[static_cast<size_t>(ordinal)];
  if (device.library) return &device;
  if (!device.context) {
    BATON_TRY_ASSIGN(device.context, PrimaryContext::retain_device(symbols_, ordinal));
  }
  BATON_TRY(device.context->check());
  const ContextScope scope = device.context->enter();
  BATON_TRY_ASSIGN(device.library, load(*device.context));
  return &device;
}

// A device that has the code; else the first that can take it. What the names and the parameters are is the same on
// all.
Result<KernelCode::OnDevice*> KernelCode::open_any() {
  for (OnDevice& device : devices_) {
    if (device.library) return &device;
  }
  auto first = open(0);
  if (first.has_value()) return first;
  for (int32_t ordinal = 1; static_cast<size_t>(ordinal) < devices_.size(); ++ordinal) {
    if (auto other = open(ordinal); other.has_value()) return other;
  }
  return first;
}

Result<hal::LaunchableKernel*> KernelCode::find(std::string_view name) {
  std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(name); found != kernels_.end()) return found->second.get();
  BATON_TRY_ASSIGN(const OnDevice* device, open_any());
  auto handle = device->library->find(name);
  if (!handle) return std::move(handle).error().with_context(text("in kernel library '", name_, "'"));
  const ContextScope scope = device->context->enter();
  BATON_TRY_ASSIGN(std::vector<CodeParameter> layout, parameters_of(*symbols_, *handle));
  auto kernel = std::make_unique<LaunchableKernel>(*this, name, std::move(layout), devices_.size());
  return kernels_.emplace(name, std::move(kernel)).first->second.get();
}

Result<KernelGlobal> KernelCode::global(int32_t ordinal, std::string_view name) {
  std::lock_guard lock(mutex_);
  BATON_TRY_ASSIGN(const OnDevice* device, open(ordinal));
  const ContextScope scope = device->context->enter();
  const std::string terminated(name);
  CUdeviceptr address = 0;
  size_t bytes = 0;
  const CUresult found = symbols_->cuLibraryGetGlobal(&address, &bytes, device->library->handle(), terminated.c_str());
  if (found == CUDA_SUCCESS) return KernelGlobal{address, bytes};
  if (found == CUDA_ERROR_NOT_FOUND) {
    return failure(StatusCode::kNotFound, "Kernel library '", name_, "' has no variable '", name, "'.");
  }
  return device->context->status_of(found, "cuLibraryGetGlobal");
}

Result<int32_t> KernelCode::ordinal_of(uint64_t stream) {
  if (devices_.size() == 1) [[likely]]
    return 0;
  if (names_no_device(stream)) {
    return failure(StatusCode::kInvalidArgument, "Stream ", stream, " is one of every device, and there are ",
                   devices_.size(), "; say the device beside it.");
  }
  CUcontext context = nullptr;
  BATON_CUDA_TRY(*symbols_, cuStreamGetCtx, reinterpret_cast<CUstream>(stream), &context);
  const ContextScope scope(*symbols_, context);
  CUdevice device = 0;
  BATON_CUDA_TRY(*symbols_, cuCtxGetDevice, &device);
  return device;
}

Result<std::unique_ptr<KernelOnDevice>> KernelCode::prepare(int32_t ordinal, std::string_view kernel) {
  std::lock_guard lock(mutex_);
  BATON_TRY_ASSIGN(const OnDevice* device, open(ordinal));
  const ContextScope scope = device->context->enter();
  auto here = std::make_unique<KernelOnDevice>();
  here->context = device->context;
  BATON_TRY_ASSIGN(here->handle, device->library->find(kernel));
  const CUdevice id = device->context->device();
  int threads = 0, shared = 0;
  BATON_CUDA_TRY(*symbols_, cuKernelGetAttribute, &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, here->handle, id);
  BATON_CUDA_TRY(*symbols_, cuKernelGetAttribute, &shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, here->handle, id);
  here->threads_max = static_cast<uint64_t>(threads);
  here->static_shared_bytes = static_cast<uint64_t>(shared);
  return here;
}

// ---- A kernel -------------------------------------------------------------------------------------------------------

LaunchableKernel::LaunchableKernel(KernelCode& code, std::string_view name, std::vector<CodeParameter> layout,
                                   size_t device_count)
    : hal::LaunchableKernel(name), code_(code), layout_(std::move(layout)), devices_(device_count) {
  for (const CodeParameter& one : layout_) parameters_.push_back({static_cast<uint16_t>(one.bytes)});
}

LaunchableKernel::~LaunchableKernel() { forget_devices(); }

void LaunchableKernel::forget_devices() {
  for (std::atomic<KernelOnDevice*>& device : devices_) delete device.exchange(nullptr);
}

bool LaunchableKernel::fits(std::span<const KernelArgument> arguments) const {
  if (arguments.size() != layout_.size()) return false;
  bool same = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    same &= arguments[i].size == layout_[i].bytes && (arguments[i].data || arguments[i].size == 0);
  }
  return same;
}

Status LaunchableKernel::refuse(std::span<const KernelArgument> arguments) const {
  std::vector<uint64_t> sizes;
  for (const KernelArgument& one : arguments) {
    if (!one.data && one.size != 0) {
      return failure(StatusCode::kInvalidArgument, "Argument ", sizes.size(), " of kernel '", name(),
                     "' is null, and stands for ", one.size, " bytes.");
    }
    sizes.push_back(one.size);
  }
  return wrong_arguments(name(), layout_, sizes);
}

// Without a lock or a question: what was launched on before, where the launch says the device or there is only one.
KernelOnDevice* LaunchableKernel::known_device(int32_t ordinal) const {
  const size_t index =
      ordinal == KernelLaunch::kDeviceOfStream && devices_.size() == 1 ? 0 : static_cast<size_t>(ordinal);
  return index < devices_.size() ? devices_[index].load(std::memory_order_acquire) : nullptr;
}

Result<KernelOnDevice*> LaunchableKernel::find_device(const KernelLaunch& launch) {
  int32_t ordinal = launch.ordinal;
  if (ordinal == KernelLaunch::kDeviceOfStream) {
    BATON_TRY_ASSIGN(ordinal, code_.ordinal_of(launch.stream));
  }
  return on_device(ordinal);
}

Result<KernelOnDevice*> LaunchableKernel::on_device(int32_t ordinal) {
  if (KernelOnDevice* here = ordinal < 0 ? nullptr : known_device(ordinal)) return here;
  BATON_TRY_ASSIGN(std::unique_ptr<KernelOnDevice> made, code_.prepare(ordinal, name()));
  KernelOnDevice* other = nullptr;  // Of a thread that was faster.
  if (devices_[static_cast<size_t>(ordinal)].compare_exchange_strong(other, made.get())) return made.release();
  return other;
}

// More than a kernel has by default must be allowed, once for each device and for the most that was asked for.
Status LaunchableKernel::allow_shared(const KernelLaunch& launch, KernelOnDevice& here) const {
  const uint64_t all = launch.local_memory_bytes + here.static_shared_bytes;
  const auto most = static_cast<uint64_t>(here.context->facts().shared_bytes_max);
  if (all > most) {
    return failure(StatusCode::kResourceExhausted, "Kernel '", name(), "' needs ", all, " bytes of shared memory (",
                   here.static_shared_bytes, " of them static); the device has ", most, ".");
  }
  std::lock_guard lock(here.mutex);
  if (launch.local_memory_bytes <= here.shared_bytes_allowed) return {};  // Another thread was faster.
  const ContextScope scope = here.context->enter();
  const CUresult set = code_.symbols().cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                            static_cast<int>(launch.local_memory_bytes), here.handle,
                                                            here.context->device());
  BATON_TRY(here.context->status_of(set, "cuKernelSetAttribute"));
  here.shared_bytes_allowed.store(launch.local_memory_bytes, std::memory_order_relaxed);
  return {};
}

Status LaunchableKernel::check(const KernelLaunch& launch, KernelOnDevice& here) const {
  const DeviceFacts& facts = here.context->facts();
  const uint64_t threads = threads_of(launch.block);
  if (threads == 0 || threads > here.threads_max) {
    return failure(StatusCode::kOutOfRange, "Kernel '", name(), "' is launched with ", threads,
                   " threads in a workgroup; its registers and the device allow 1 to ", here.threads_max, ".");
  }
  const LaunchAttributes& attributes = launch.attributes;
  if (attributes.has_cluster() && !facts.clusters) {
    return failure(StatusCode::kUnimplemented, "Kernel '", name(), "' is launched in clusters; the device (sm_",
                   facts.arch(), ") has none.");
  }
  if (attributes.cooperative && !facts.cooperative) {
    return failure(StatusCode::kUnimplemented, "Kernel '", name(),
                   "' is launched as cooperative; the device has no such launches.");
  }
  if (launch.local_memory_bytes <= here.shared_bytes_allowed.load(std::memory_order_relaxed)) return {};
  return allow_shared(launch, here);
}

namespace {

// What a launch says beside its shape.
class LaunchList {
 public:
  void fill(const LaunchAttributes& wanted, bool can_begin_early) {
    if (wanted.has_cluster()) {
      add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim = {std::max(wanted.cluster_size[0], 1u),
                                                               std::max(wanted.cluster_size[1], 1u),
                                                               std::max(wanted.cluster_size[2], 1u)};
    }
    if (wanted.cooperative) add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
    // CUDA's greatest is its least.
    if (wanted.priority != 0) add(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority = -std::max(wanted.priority, -INT32_MAX);
    if (wanted.early && can_begin_early) {
      add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).programmaticStreamSerializationAllowed = 1;
    }
  }
  void give_to(CUlaunchConfig& config) {
    config.attrs = attributes_;
    config.numAttrs = count_;
  }

 private:
  CUlaunchAttributeValue& add(CUlaunchAttributeID id) {
    attributes_[count_] = {};
    attributes_[count_].id = id;
    return attributes_[count_++].value;
  }
  CUlaunchAttribute attributes_[4];
  unsigned count_ = 0;
};

bool is_plain(const LaunchAttributes& wanted) {
  return !wanted.has_cluster() && !wanted.cooperative && !wanted.early && wanted.priority == 0;
}

}  // namespace

// The memory comes and goes in the order of the stream, in a capture as two nodes of it.
Status LaunchableKernel::launch_with_scratch(const KernelLaunch& launch, std::span<const KernelArgument> arguments) {
  BATON_TRY_ASSIGN(KernelOnDevice * here, find_device(launch));
  const Symbols& symbols = code_.symbols();
  const auto stream = reinterpret_cast<CUstream>(launch.stream);
  const ContextScope scope = here->context->enter();
  std::vector<KernelArgument> all(arguments.begin(), arguments.end());
  std::vector<CUdeviceptr> taken;
  taken.reserve(launch.scratch.size());  // Arguments point into it.
  Status status;
  for (const KernelScratch& wanted : launch.scratch) {
    CUdeviceptr address = 0;
    status = here->context->status_of(symbols.cuMemAllocAsync(&address, wanted.bytes, stream), "cuMemAllocAsync");
    if (!status.ok()) {
      status = std::move(status).with_context(
          text("for ", wanted.bytes, " bytes of scratch memory of kernel '", name(), "'"));
      break;
    }
    taken.push_back(address);
    all[wanted.argument] = {&taken.back(), sizeof(CUdeviceptr)};
  }
  KernelLaunch with_all = launch;
  with_all.scratch = {};
  if (status.ok()) status = this->launch(with_all, all);
  for (const CUdeviceptr address : taken) {
    Status freed = here->context->status_of(symbols.cuMemFreeAsync(address, stream), "cuMemFreeAsync");
    if (status.ok()) status = std::move(freed);
  }
  return status;
}

Status LaunchableKernel::launch(const KernelLaunch& launch, std::span<const KernelArgument> arguments) {
  if (!fits(arguments)) [[unlikely]]
    return refuse(arguments);
  if (!launch.scratch.empty()) [[unlikely]]
    return launch_with_scratch(launch, arguments);
  KernelOnDevice* here = known_device(launch.ordinal);
  if (!here) [[unlikely]] {
    BATON_TRY_ASSIGN(here, find_device(launch));
  }
  const uint64_t threads = threads_of(launch.block);
  const bool plain = is_plain(launch.attributes);
  const bool known_good = plain && threads - 1 < here->threads_max &&
                          launch.local_memory_bytes <= here->shared_bytes_allowed.load(std::memory_order_relaxed);
  if (!known_good) [[unlikely]]
    BATON_TRY(check(launch, *here));
  if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0) return {};  // Nothing to run.

  constexpr size_t kOnStack = 64;
  void* few[kOnStack];
  std::vector<void*> many;
  void** pointers = few;
  if (arguments.size() > kOnStack) [[unlikely]] {
    many.resize(arguments.size());
    pointers = many.data();
  }
  for (size_t i = 0; i < arguments.size(); ++i) pointers[i] = const_cast<void*>(arguments[i].data);
  CUlaunchConfig config = {};
  config.gridDimX = launch.grid[0];
  config.gridDimY = launch.grid[1];
  config.gridDimZ = launch.grid[2];
  config.blockDimX = launch.block[0];
  config.blockDimY = launch.block[1];
  config.blockDimZ = launch.block[2];
  config.sharedMemBytes = launch.local_memory_bytes;
  config.hStream = reinterpret_cast<CUstream>(launch.stream);
  LaunchList list;
  if (!plain) list.fill(launch.attributes, here->context->facts().major >= 9);
  list.give_to(config);
  code_.note_launch();
  // A stream with a context of its own is launched on as it is; the others mean the current one.
  std::optional<ContextScope> scope;
  if (names_no_device(launch.stream)) scope.emplace(code_.symbols(), here->context->handle());
  const CUresult launched =
      code_.symbols().cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(here->handle), pointers, nullptr);
  if (launched == CUDA_SUCCESS) [[likely]]
    return {};
  return here->context->status_of(launched, "cuLaunchKernelEx").with_context(text("for kernel '", name(), "'"));
}

Result<KernelOccupancy> LaunchableKernel::occupancy(int32_t ordinal, uint32_t threads, uint32_t local_memory_bytes) {
  BATON_TRY_ASSIGN(KernelOnDevice * here, on_device(ordinal));
  KernelLaunch asked;
  asked.block[0] = threads;
  asked.local_memory_bytes = local_memory_bytes;
  BATON_TRY(check(asked, *here));
  const ContextScope scope = here->context->enter();
  const auto function = reinterpret_cast<CUfunction>(here->handle);
  int workgroups = 0, grid_for_most = 0, block_for_most = 0;
  BATON_CUDA_TRY(code_.symbols(), cuOccupancyMaxActiveBlocksPerMultiprocessor, &workgroups, function,
                 static_cast<int>(threads), local_memory_bytes);
  BATON_CUDA_TRY(code_.symbols(), cuOccupancyMaxPotentialBlockSize, &grid_for_most, &block_for_most, function, nullptr,
                 local_memory_bytes, 0);
  return KernelOccupancy{static_cast<uint32_t>(workgroups),
                         static_cast<uint32_t>(here->context->facts().multiprocessors),
                         static_cast<uint32_t>(block_for_most)};
}

}  // namespace baton::hal::drivers::cuda
