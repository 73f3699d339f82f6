#include "modules/kernel_library/kernel_library.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hal/code_format.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "modules/kernel_library/spirv_kernels.hpp"

namespace baton::modules {

// The variants' bytes, each aligned as code wants to be.
struct KernelLibrary::Bytes final : hal::ExecutableData {
  static constexpr std::align_val_t kAlignment{64};
  struct Freed {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, kAlignment); }
  };
  std::vector<std::unique_ptr<std::byte[], Freed>> blocks;

  std::span<const std::byte> copy(std::span<const std::byte> source) {
    blocks.emplace_back(static_cast<std::byte*>(::operator new[](source.size() + 1, kAlignment)));
    if (!source.empty()) std::memcpy(blocks.back().get(), source.data(), source.size());
    return {blocks.back().get(), source.size()};
  }
};

namespace {

Status cannot_read(const char* path) {
  return failure(errno == ENOENT ? StatusCode::kNotFound : StatusCode::kUnavailable, "Cannot read '", path,
                 "': ", std::strerror(errno), ".");
}

}  // namespace

Result<std::vector<std::byte>> read_kernel_file(const char* path) {
  // What is no file may have no end, and no beginning either.
  struct stat facts = {};
  if (::stat(path, &facts) != 0) return cannot_read(path);
  if (!S_ISREG(facts.st_mode)) {
    return failure(StatusCode::kInvalidArgument, "'", path, "' is ",
                   S_ISDIR(facts.st_mode) ? "a directory, not a file." : "not a regular file.");
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path, "rb"), [](std::FILE* open) { return open ? std::fclose(open) : 0; });
  if (!file) return cannot_read(path);
  std::vector<std::byte> bytes;
  std::byte block[65536];
  while (const size_t count = std::fread(block, 1, sizeof(block), file.get())) {
    bytes.insert(bytes.end(), block, block + count);
  }
  if (std::ferror(file.get())) return cannot_read(path);
  return bytes;
}

KernelLibrary::KernelLibrary(std::string_view name, Ref<Bytes> bytes, std::vector<hal::ExecutableVariant> variants,
                             std::shared_ptr<const hal::DriverRegistry> drivers)
    : name_(name), bytes_(std::move(bytes)), variants_(std::move(variants)), drivers_(std::move(drivers)) {}

KernelLibrary::~KernelLibrary() = default;

Result<Ref<KernelLibrary>> KernelLibrary::make(std::string_view name, std::span<const KernelVariant> variants,
                                               std::shared_ptr<const hal::DriverRegistry> drivers) {
  auto bytes = make_ref<Bytes>();
  std::vector<hal::ExecutableVariant> copies;
  for (const KernelVariant& variant : variants) {
    std::string told;
    if (variant.format.empty()) {
      auto format = hal::tell_code_format(variant.data);
      if (!format) return std::move(format).error().with_context(text("in kernel library '", name, "'"));
      told = std::move(*format);
    }
    const std::string_view format = told.empty() ? variant.format : told;
    const auto kept = bytes->copy(std::as_bytes(std::span(format)));
    copies.push_back({{reinterpret_cast<const char*>(kept.data()), kept.size()}, bytes->copy(variant.data)});
  }
  if (copies.empty()) {
    return failure(StatusCode::kInvalidArgument, "Kernel library '", name, "' has no code at all.");
  }
  return make_ref<KernelLibrary>(name, std::move(bytes), std::move(copies), std::move(drivers));
}

Result<Ref<KernelLibrary>> KernelLibrary::load_file(const char* path) {
  BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, read_kernel_file(path));
  const KernelVariant variant{{}, bytes};
  return make(path, {&variant, 1});
}

namespace {

Result<std::shared_ptr<const hal::DriverRegistry>> registered_drivers() {
  auto drivers = std::make_shared<hal::DriverRegistry>();
  BATON_TRY(hal::drivers::register_drivers(*drivers));
  return std::shared_ptr<const hal::DriverRegistry>(std::move(drivers));
}

// "90" for CUDA's first device.
Result<std::string> native_arch(const hal::DriverRegistry* drivers) {
  std::shared_ptr<const hal::DriverRegistry> own;
  if (!drivers) {
    BATON_TRY_ASSIGN(own, registered_drivers());
    drivers = own.get();
  }
  hal::Driver* cuda = drivers->find("cuda");
  Result<std::vector<hal::DeviceInfo>> devices =
      cuda ? cuda->list() : failure(StatusCode::kUnavailable, "This build has no CUDA driver.");
  if (!devices) {
    return std::move(devices).error().with_context(
        "source without an architecture is compiled for CUDA's first device; say one, as in \"90\"");
  }
  for (const hal::DeviceFact& fact : devices->empty() ? std::vector<hal::DeviceFact>() : devices->front().facts) {
    const std::string* value = std::get_if<std::string>(&fact.value);
    if (fact.name == "architecture" && value && value->starts_with("sm_")) return value->substr(3);
  }
  return failure(StatusCode::kUnavailable, "CUDA's first device does not tell its architecture.");
}

Result<Ref<KernelLibrary>> from_cubin(std::string_view name, const std::vector<std::byte>& cubin,
                                      std::shared_ptr<const hal::DriverRegistry> drivers) {
  const KernelVariant variant{{}, cubin};
  return KernelLibrary::make(name, {&variant, 1}, std::move(drivers));
}

}  // namespace

Result<Ref<KernelLibrary>> KernelLibrary::compile(CompileRequest request, const CodeCache& cache,
                                                  std::shared_ptr<const hal::DriverRegistry> drivers) {
  std::string arch(request.arch);
  if (arch.empty()) {
    BATON_TRY_ASSIGN(arch, native_arch(drivers.get()));
  }
  request.arch = arch;
  BATON_TRY_ASSIGN(const std::vector<std::byte> cubin, compile_cuda(request, cache));
  return from_cubin(request.name, cubin, std::move(drivers));
}

Result<Ref<KernelLibrary>> KernelLibrary::link(std::string_view name, std::string_view given_arch,
                                               std::span<const LinkInput> inputs,
                                               std::span<const std::string_view> options,
                                               std::shared_ptr<const hal::DriverRegistry> drivers) {
  std::string arch(given_arch);
  if (arch.empty()) {
    BATON_TRY_ASSIGN(arch, native_arch(drivers.get()));
  }
  BATON_TRY_ASSIGN(const std::vector<std::byte> cubin, link_cuda(arch, inputs, options));
  return from_cubin(name, cubin, std::move(drivers));
}

bool KernelLibrary::has_code_for(std::string_view prefix) const {
  for (const hal::ExecutableVariant& variant : variants_) {
    if (variant.format.starts_with(prefix)) return true;
  }
  return false;
}

Result<const hal::DriverRegistry*> KernelLibrary::open_drivers() {
  if (drivers_) return drivers_.get();
  BATON_TRY_ASSIGN(drivers_, registered_drivers());
  return drivers_.get();
}

Result<hal::KernelCode*> KernelLibrary::open_code() {
  if (code_) return code_.get();
  if (!has_code_for("cuda-")) {
    return failure(StatusCode::kUnimplemented, "Kernel library '", name_, "' has no code for CUDA (but '",
                   variants_[0].format, "'), and nothing else is launched on streams.");
  }
  BATON_TRY_ASSIGN(const hal::DriverRegistry* drivers, open_drivers());
  hal::Driver* cuda = drivers->find("cuda");
  if (!cuda) {
    std::string_view reason = "it is left out";
    for (const auto& left_out : hal::drivers::left_out_drivers()) {
      if (left_out.name == "cuda") reason = left_out.reason;
    }
    return failure(StatusCode::kUnavailable, "Kernel library '", name_, "' needs the CUDA driver: ", reason);
  }
  BATON_TRY_ASSIGN(code_, cuda->load_kernels({.name = name_, .variants = variants_, .data = bytes_}));
  return code_.get();
}

Result<hal::KernelCode*> KernelLibrary::code() {
  std::lock_guard lock(mutex_);
  return open_code();
}

// The CPU's code is asked on a device of its own, which has no threads.
Status KernelLibrary::check_name_on_host(std::string_view name) {
  if (!on_host_) {
    BATON_TRY_ASSIGN(const hal::DriverRegistry* drivers, open_drivers());
    BATON_TRY_ASSIGN(const Ref<hal::Device> device, drivers->open("local-sync"));
    BATON_TRY_ASSIGN(on_host_, device->make_executable({.name = name_, .variants = variants_, .data = bytes_}));
  }
  BATON_TRY_ASSIGN([[maybe_unused]] const uint32_t index, on_host_->find(name));
  return {};
}

Status KernelLibrary::check_name_in_spirv(std::string_view name) { return find_in_spirv(name_, variants_, name); }

Status KernelLibrary::check_name_on_cuda(std::string_view name) {
  BATON_TRY_ASSIGN(hal::KernelCode * code, open_code());
  BATON_TRY_ASSIGN([[maybe_unused]] hal::LaunchableKernel * kernel, code->find(name));
  return {};
}

// Fails unless some variant has the kernel. For a set of variants the message is that of the first one that could be
// read; a missing GPU is no reason to say that the kernel isn't there.
Status KernelLibrary::check_name(std::string_view name) {
  Status said;
  bool asked = false;
  const auto knows = [&](Status (KernelLibrary::*ask)(std::string_view)) {
    Status answer = (this->*ask)(name);
    if (answer.ok()) return true;
    const bool unread = said.code() == StatusCode::kUnavailable && answer.code() != StatusCode::kUnavailable;
    if (!asked || unread) said = std::move(answer);
    asked = true;
    return false;
  };
  if (has_code_for("cuda-") && knows(&KernelLibrary::check_name_on_cuda)) return {};
  const bool has_spirv =
      std::any_of(variants_.begin(), variants_.end(), [](const auto& each) { return is_spirv(each.format); });
  if (has_spirv && knows(&KernelLibrary::check_name_in_spirv)) return {};
  const bool for_host = has_code_for("embedded-elf") || has_code_for("system-elf") || !asked;
  return for_host && knows(&KernelLibrary::check_name_on_host) ? Status() : std::move(said);
}

Result<Kernel*> KernelLibrary::find(std::string_view name) {
  std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(name); found != kernels_.end()) return found->second.get();
  BATON_TRY(check_name(name));
  return kernels_.emplace(name, std::make_unique<Kernel>(*this, name, defaults_)).first->second.get();
}

Result<Ref<hal::Executable>> KernelLibrary::make_executable(hal::Device& device, const hal::EntryPoint& entry) {
  return device.make_executable(
      {.name = name_, .variants = variants_, .expected = {&entry, 1}, .expected_by_name = true, .data = bytes_});
}

Status KernelLibrary::unload() {
  std::lock_guard lock(mutex_);
  return code_ ? code_->unload() : Status();
}

}  // namespace baton::modules
