// KernelLibrary: kernels of an app, as one or several variants of the same code, found by name.
//
// It makes no device and needs none: CUDA's code is loaded through its driver when a kernel is first asked for, SPIR-V and
// the CPU's by the device it is launched on.
// Threads: internally synchronized.
#pragma once

#include <map>
#include <memory>

#include "hal/driver_registry.hpp"
#include "modules/kernel_library/cuda_compiler.hpp"
#include "modules/kernel_library/library_kernel.hpp"

namespace baton::modules {

struct KernelVariant {
  std::string_view format;  // Empty: told from the bytes.
  std::span<const std::byte> data;
};

Result<std::vector<std::byte>> read_kernel_file(const char* path);

class KernelLibrary : public RefCounted<KernelLibrary> {
 public:
  // The bytes are copied. `drivers` null: those of this build, when the first is needed.
  static Result<Ref<KernelLibrary>> make(std::string_view name, std::span<const KernelVariant> variants,
                                         std::shared_ptr<const hal::DriverRegistry> drivers = nullptr);
  static Result<Ref<KernelLibrary>> load_file(const char* path);
  // From source, and from parts (cuda_compiler.hpp); an empty `arch` is that of CUDA's first device.
  static Result<Ref<KernelLibrary>> compile(CompileRequest request, const CodeCache& cache = CodeCache::of_user(),
                                            std::shared_ptr<const hal::DriverRegistry> drivers = nullptr);
  static Result<Ref<KernelLibrary>> link(std::string_view name, std::string_view arch,
                                         std::span<const LinkInput> inputs, std::span<const std::string_view> options,
                                         std::shared_ptr<const hal::DriverRegistry> drivers = nullptr);
  virtual ~KernelLibrary();

  const std::string& name() const { return name_; }
  // Of all of its kernels; before the first is found.
  void set_defaults(const KernelDefaults& defaults) { defaults_ = defaults; }
  Result<Kernel*> find(std::string_view name);
  // The code as CUDA's driver has it; made when it is first asked for.
  Result<hal::KernelCode*> code();
  Result<Ref<hal::Executable>> make_executable(hal::Device& device, const hal::EntryPoint& entry);
  Status unload();

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  struct Bytes;
  KernelLibrary(std::string_view name, Ref<Bytes> bytes, std::vector<hal::ExecutableVariant> variants,
                std::shared_ptr<const hal::DriverRegistry> drivers);

  bool has_code_for(std::string_view prefix) const;
  Result<const hal::DriverRegistry*> open_drivers();
  Result<hal::KernelCode*> open_code();
  Status check_name(std::string_view name);
  Status check_name_on_cuda(std::string_view name);
  Status check_name_on_host(std::string_view name);
  Status check_name_in_spirv(std::string_view name);

  const std::string name_;
  const Ref<Bytes> bytes_;
  const std::vector<hal::ExecutableVariant> variants_;
  KernelDefaults defaults_;
  std::mutex mutex_;
  std::shared_ptr<const hal::DriverRegistry> drivers_;  // Guarded by mutex_.
  Ref<hal::KernelCode> code_;                           // Guarded by mutex_.
  Ref<hal::Executable> on_host_;                        // Guarded by mutex_: what tells the CPU's names.
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels_;  // Guarded by mutex_.
};

}  // namespace baton::modules
