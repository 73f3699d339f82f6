// The door of modules/sdk/kernel_library.h over KernelLibrary and Kernel.

#include "modules/door_checks.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/kernel_library/triton.hpp"

namespace baton::modules {
namespace {

KernelLibrary* house(baton_kernel_library* library) { return reinterpret_cast<KernelLibrary*>(library); }
// A kernel is const for its callers; what it remembers of devices is its own.
Kernel* house(const baton_library_kernel* kernel) {
  return reinterpret_cast<Kernel*>(const_cast<baton_library_kernel*>(kernel));
}
std::string_view house(baton_string text) { return {text.data, static_cast<size_t>(text.size)}; }

Status check_text(std::string_view what, baton_string text) { return lacks(text) ? is_null(what) : Status(); }

// Code in variants or parts.
Status check_code(std::span<const baton_executable_variant> given) {
  if (lacks(given.data(), given.size())) return is_null("array of code");
  for (const auto& [format, data, size] : given) {
    BATON_TRY(check_text("text that names code", format));
    if (lacks(data, size)) return is_null("memory of code");
  }
  return {};
}

Result<Ref<KernelLibrary>> make(baton_string name, std::span<const baton_executable_variant> given) {
  BATON_TRY(check_text("name of a kernel library", name));
  BATON_TRY(check_code(given));
  std::vector<KernelVariant> variants;
  for (const auto& [format, data, size] : given) {
    variants.push_back({house(format), {static_cast<const std::byte*>(data), static_cast<size_t>(size)}});
  }
  return KernelLibrary::make(house(name), variants);
}

baton_status* give(Result<Ref<KernelLibrary>> made, baton_kernel_library** out) {
  if (!made) return to_door(std::move(made).error());
  *out = reinterpret_cast<baton_kernel_library*>(made->detach());
  return nullptr;
}

// The first of several threads that ask makes it for all; a later one throws its own away.
Result<baton_kernel_library*> embedded(const baton_embedded_kernels& kernels) {
  if (!kernels.library || !kernels.name || lacks(kernels.variants, kernels.variant_count)) {
    return is_null("part of what embeds kernels");
  }
  const std::atomic_ref<baton_kernel_library*> cached(*kernels.library);
  if (baton_kernel_library* known = cached.load(std::memory_order_acquire)) return known;
  std::vector<KernelVariant> variants;
  for (const auto& [format, begin, end] : std::span(kernels.variants, kernels.variant_count)) {
    if (!begin || end < begin || lacks(format)) return is_null("code of what embeds kernels, or its format,");
    variants.push_back({house(format), {static_cast<const std::byte*>(begin), static_cast<const std::byte*>(end)}});
  }
  BATON_TRY_ASSIGN(Ref<KernelLibrary> made, KernelLibrary::make(kernels.name, variants));
  auto* mine = reinterpret_cast<baton_kernel_library*>(made.get());
  baton_kernel_library* other = nullptr;
  if (!cached.compare_exchange_strong(other, mine)) return other;
  made.detach();
  return mine;
}

Result<Kernel*> find_embedded(const baton_embedded_kernels& kernels, std::string_view name) {
  BATON_TRY_ASSIGN(baton_kernel_library * library, embedded(kernels));
  return house(library)->find(name);
}

Status check_launch(const baton_library_kernel* kernel, const baton_kernel_launch* launch,
                    const baton_kernel_argument* arguments, uint64_t argument_count) {
  constexpr uint32_t kKnown = BATON_KERNEL_ON_STREAM | BATON_KERNEL_COOPERATIVE | BATON_KERNEL_EARLY;
  if (!kernel || lacks(arguments, argument_count)) [[unlikely]]
    return is_null(kernel ? "array of arguments" : "kernel");
  if (launch && launch->struct_size >= sizeof(baton_kernel_launch)) [[likely]] {
    if ((launch->flags & ~kKnown) == 0) [[likely]]
      return {};
    return failure(StatusCode::kInvalidArgument, "A kernel is launched with flags ", launch->flags,
                   "; this version knows those of ", kKnown, ".");
  }
  return failure(StatusCode::kInvalidArgument, "A kernel is launched with a struct of ",
                 launch ? launch->struct_size : 0, " bytes; it has ", sizeof(baton_kernel_launch), " or more.");
}

// Who waits for a refused launch learns of it too, as with all that a queue is given.
[[gnu::cold]] void tell_waiters(const baton_kernel_launch& launch, const Status& why) {
  const hal::Fence* fence =
      unwrap<hal::Fence>(reinterpret_cast<baton_object*>(const_cast<baton_fence*>(launch.signal)));
  if (!fence || launch.flags & BATON_KERNEL_ON_STREAM) return;
  for (const hal::SemaphorePoint& point : fence->points()) {
    if (!point.semaphore->reached(point.value)) point.semaphore->fail(why);
  }
}

Result<Ref<KernelLibrary>> load_triton(const char* metadata_path, const char* cubin_path) {
  if (!metadata_path || !cubin_path) return is_null(metadata_path ? "path of a cubin" : "path of metadata");
  BATON_TRY_ASSIGN(const std::vector<std::byte> metadata, read_kernel_file(metadata_path));
  BATON_TRY_ASSIGN(const std::vector<std::byte> cubin, read_kernel_file(cubin_path));
  return make_triton_library({reinterpret_cast<const char*>(metadata.data()), metadata.size()}, cubin);
}

Result<std::vector<std::string_view>> strings(const baton_string* list, uint64_t count) {
  if (lacks(list, count)) return is_null("array of options");
  std::vector<std::string_view> views;
  for (uint64_t i = 0; i < count; ++i) {
    BATON_TRY(check_text("text of an option", list[i]));
    views.push_back(house(list[i]));
  }
  return views;
}

Result<Ref<KernelLibrary>> compile(const baton_kernel_compile* given) {
  if (!given || given->struct_size < sizeof(*given)) {
    return failure(StatusCode::kInvalidArgument, "Source is compiled with a struct of ", given ? given->struct_size : 0,
                   " bytes; it has ", sizeof(*given), " or more.");
  }
  BATON_TRY(check_text("name of source", given->name));
  BATON_TRY(check_text("text of source", given->source));
  BATON_TRY(check_text("architecture", given->arch));
  if (lacks(given->headers, given->header_count)) return is_null("array of headers");
  std::vector<SourceHeader> headers;
  for (uint64_t i = 0; i < given->header_count; ++i) {
    BATON_TRY(check_text("name of a header", given->headers[i].name));
    BATON_TRY(check_text("text of a header", given->headers[i].text));
    headers.push_back({house(given->headers[i].name), house(given->headers[i].text)});
  }
  BATON_TRY_ASSIGN(const std::vector<std::string_view> options, strings(given->options, given->option_count));
  return KernelLibrary::compile({house(given->name), house(given->source), house(given->arch), options, headers});
}

Result<Ref<KernelLibrary>> link(baton_string name, baton_string arch, std::span<const baton_executable_variant> parts,
                                const baton_string* options, uint64_t option_count) {
  BATON_TRY(check_text("name of a kernel library", name));
  BATON_TRY(check_text("architecture", arch));
  BATON_TRY(check_code(parts));
  BATON_TRY_ASSIGN(const std::vector<std::string_view> flags, strings(options, option_count));
  std::vector<LinkInput> inputs;
  for (const auto& [part, data, size] : parts) {
    inputs.push_back({house(part), {static_cast<const std::byte*>(data), static_cast<size_t>(size)}});
  }
  return KernelLibrary::link(house(name), house(arch), inputs, flags);
}

Result<hal::KernelGlobal> global(KernelLibrary& library, int32_t ordinal, std::string_view name) {
  BATON_TRY_ASSIGN(hal::KernelCode * code, library.code());
  return code->global(ordinal, name);
}

Result<std::span<const hal::KernelParameter>> parameters(Kernel& kernel) {
  BATON_TRY_ASSIGN(const hal::LaunchableKernel* launchable, kernel.launchable());
  return launchable->parameters();
}

Result<hal::KernelOccupancy> occupancy(Kernel& kernel, int32_t ordinal, uint32_t threads, uint32_t shared_bytes) {
  BATON_TRY_ASSIGN(hal::LaunchableKernel * launchable, kernel.launchable());
  return launchable->occupancy(ordinal, threads, shared_bytes);
}

}  // namespace
}  // namespace baton::modules

using namespace baton::modules;

extern "C" {

baton_status* baton_kernel_library_make(baton_string name, const baton_executable_variant* variants,
                                        uint64_t variant_count, baton_kernel_library** out_library) {
  if (baton_status* status = missing_room(out_library)) return status;
  return give(make(name, {variants, static_cast<size_t>(variant_count)}), out_library);
}

baton_status* baton_kernel_library_load_file(const char* path, baton_kernel_library** out_library) {
  if (baton_status* status = missing_room(out_library)) return status;
  if (!path) return missing("path of a kernel library");
  return give(KernelLibrary::load_file(path), out_library);
}

baton_status* baton_kernel_library_embedded(const baton_embedded_kernels* kernels, baton_kernel_library** out_library) {
  if (baton_status* status = missing_room(out_library)) return status;
  if (!kernels) return missing("struct of embedded kernels");
  auto library = embedded(*kernels);
  if (!library) return to_door(std::move(library).error());
  house(*library)->retain();  // Whoever releases what it was given leaves the program's own.
  *out_library = *library;
  return nullptr;
}

baton_status* baton_kernel_library_load_triton(const char* metadata_path, const char* cubin_path,
                                               baton_kernel_library** out_library) {
  if (baton_status* status = missing_room(out_library)) return status;
  return give(load_triton(metadata_path, cubin_path), out_library);
}

baton_status* baton_kernel_library_make_triton(baton_string metadata, const void* cubin, uint64_t cubin_size,
                                               baton_kernel_library** out_library) {
  if (baton_status* status = missing_room(out_library)) return status;
  if (lacks(metadata)) return missing("text of metadata");
  if (lacks(cubin, cubin_size)) return missing("memory of a cubin");
  return give(
      make_triton_library(house(metadata), {static_cast<const std::byte*>(cubin), static_cast<size_t>(cubin_size)}),
      out_library);
}

baton_status* baton_kernel_library_compile(const baton_kernel_compile* request, baton_kernel_library** out_library) {
  if (baton_status* status = missing_room(out_library)) return status;
  return give(compile(request), out_library);
}

baton_status* baton_kernel_library_link(baton_string name, baton_string arch, const baton_executable_variant* parts,
                                        uint64_t part_count, const baton_string* options, uint64_t option_count,
                                        baton_kernel_library** out_library) {
  if (baton_status* status = missing_room(out_library)) return status;
  return give(link(name, arch, {parts, static_cast<size_t>(part_count)}, options, option_count), out_library);
}

void baton_kernel_library_retain(baton_kernel_library* library) {
  if (library) house(library)->retain();
}

void baton_kernel_library_release(baton_kernel_library* library) {
  if (library) house(library)->release();
}

baton_status* baton_kernel_library_unload(baton_kernel_library* library) {
  if (!library) return missing("kernel library");
  return to_door(house(library)->unload());
}

baton_status* baton_kernel_library_find(baton_kernel_library* library, baton_string name,
                                        const baton_library_kernel** out_kernel) {
  if (baton_status* status = missing_room(out_kernel)) return status;
  if (!library) return missing("kernel library");
  if (lacks(name)) return missing("name of a kernel");
  auto kernel = house(library)->find(house(name));
  if (!kernel) return to_door(std::move(kernel).error());
  *out_kernel = reinterpret_cast<const baton_library_kernel*>(*kernel);
  return nullptr;
}

baton_status* baton_kernel_library_global(baton_kernel_library* library, int32_t ordinal, baton_string name,
                                          uint64_t* out_address, uint64_t* out_bytes) {
  if (!library) return missing("kernel library");
  if (lacks(name)) return missing("name of a variable");
  if (!out_address || !out_bytes) return missing("place for the result");
  auto found = global(*house(library), ordinal, house(name));
  if (!found) return to_door(std::move(found).error());
  *out_address = found->address;
  *out_bytes = found->bytes;
  return nullptr;
}

baton_string baton_kernel_name(const baton_library_kernel* kernel) {
  if (!kernel) return {};
  const std::string& name = house(kernel)->name();
  return {name.data(), name.size()};
}

baton_status* baton_kernel_parameters(const baton_library_kernel* kernel, uint64_t* sizes, uint64_t sizes_count,
                                      uint64_t* out_count) {
  if (!kernel) return missing("kernel");
  if (!out_count || lacks(sizes, sizes_count)) return missing("place for the result");
  auto all = parameters(*house(kernel));
  if (!all) return to_door(std::move(all).error());
  for (uint64_t i = 0; i < all->size() && i < sizes_count; ++i) sizes[i] = (*all)[i].bytes;
  *out_count = all->size();
  return nullptr;
}

baton_status* baton_kernel_get_occupancy(const baton_library_kernel* kernel, int32_t ordinal, uint32_t threads,
                                         uint32_t shared_bytes, baton_kernel_occupancy* out_occupancy) {
  if (!kernel) return missing("kernel");
  if (!out_occupancy) return missing("place for the result");
  auto found = occupancy(*house(kernel), ordinal, threads, shared_bytes);
  if (!found) return to_door(std::move(found).error());
  *out_occupancy = {out_occupancy->struct_size, found->workgroups_per_multiprocessor, found->multiprocessors,
                    found->block_for_most};
  return nullptr;
}

baton_status* baton_kernel_launch_on(const baton_library_kernel* kernel, const baton_kernel_launch* launch,
                                     const baton_kernel_argument* arguments, uint64_t argument_count) {
  if (baton::Status checked = check_launch(kernel, launch, arguments, argument_count); !checked.ok()) [[unlikely]]
    return to_door(std::move(checked));
  baton::Status status = house(kernel)->launch(*launch, {arguments, static_cast<size_t>(argument_count)});
  if (!status.ok()) [[unlikely]]
    tell_waiters(*launch, status);
  return to_door(std::move(status));
}

baton_status* baton_kernel_record(const baton_library_kernel* kernel, baton_command_buffer* commands,
                                  const baton_kernel_launch* launch, const baton_kernel_argument* arguments,
                                  uint64_t argument_count) {
  if (baton::Status checked = check_launch(kernel, launch, arguments, argument_count); !checked.ok())
    return to_door(std::move(checked));
  return to_door(house(kernel)->record(commands, *launch, {arguments, static_cast<size_t>(argument_count)}));
}

const baton_library_kernel* baton_kernel_embedded(const baton_embedded_kernels* kernels, const char* name,
                                                  const baton_library_kernel** cache, baton_status** out_status) {
  baton_status* unread = nullptr;
  baton_status*& status = out_status ? *out_status : unread;
  status = nullptr;
  if (!kernels || !name || !cache) {
    status = missing(kernels ? "name of a kernel, or the place where it is kept," : "struct of embedded kernels");
  } else if (auto found = find_embedded(*kernels, name); !found) {
    status = to_door(std::move(found).error());
  } else {
    const auto* kernel = reinterpret_cast<const baton_library_kernel*>(*found);
    std::atomic_ref<const baton_library_kernel*>(*cache).store(kernel, std::memory_order_release);
    return kernel;
  }
  const auto dropped = baton::Status::adopt(reinterpret_cast<baton::Status::Failure*>(unread));
  return nullptr;
}

const baton_kernel_table* baton_kernel_functions(void) {
  static constexpr baton_kernel_table table = {
      .struct_size = sizeof(baton_kernel_table),
      .reserved = 0,
      .library_make = baton_kernel_library_make,
      .library_load_file = baton_kernel_library_load_file,
      .library_embedded = baton_kernel_library_embedded,
      .library_retain = baton_kernel_library_retain,
      .library_release = baton_kernel_library_release,
      .library_unload = baton_kernel_library_unload,
      .library_find = baton_kernel_library_find,
      .library_global = baton_kernel_library_global,
      .name = baton_kernel_name,
      .parameters = baton_kernel_parameters,
      .get_occupancy = baton_kernel_get_occupancy,
      .launch_on = baton_kernel_launch_on,
      .record = baton_kernel_record,
      .library_load_triton = baton_kernel_library_load_triton,
      .library_make_triton = baton_kernel_library_make_triton,
      .library_compile = baton_kernel_library_compile,
      .library_link = baton_kernel_library_link,
  };
  return &table;
}

}  // extern "C"
