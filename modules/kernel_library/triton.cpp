#include "modules/kernel_library/triton.hpp"

#include <algorithm>
#include <charconv>

#include "modules/kernel_library/json_field.hpp"

namespace baton::modules {
namespace {

constexpr uint32_t kWarp = 32;

Status bad_field(std::string_view key, std::string_view value) {
  return failure(StatusCode::kInvalidArgument, "The metadata's '", key, "' is ", value,
                 ", which is nothing that it can be.");
}

Result<std::string_view> need(std::string_view metadata, std::string_view key) {
  BATON_TRY_ASSIGN(const auto value, json_field(metadata, key));
  if (value) return *value;
  return failure(StatusCode::kInvalidArgument, "The metadata has no '", key,
                 "'; it is no kernel's of Triton's compiler.");
}

Result<uint32_t> number(std::string_view key, std::string_view value) {
  uint32_t parsed = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (error != std::errc() || end != value.data() + value.size()) return bad_field(key, value);
  return parsed;
}

// What may be absent may be null as well.
Result<std::optional<std::string_view>> field_in(std::string_view metadata, std::string_view key) {
  BATON_TRY_ASSIGN(const auto value, json_field(metadata, key));
  return value && *value == "null" ? std::nullopt : value;
}

// `missing` where the version of Triton has no such field.
Result<uint32_t> number_in(std::string_view metadata, std::string_view key, uint32_t missing) {
  BATON_TRY_ASSIGN(const auto value, field_in(metadata, key));
  return value ? number(key, *value) : missing;
}

Result<bool> flag_in(std::string_view metadata, std::string_view key) {
  BATON_TRY_ASSIGN(const auto value, field_in(metadata, key));
  if (!value || *value == "false") return false;
  return *value == "true" ? Result<bool>(true) : bad_field(key, *value);
}

// A plain string, without what would have to be unescaped.
Result<std::string> string_of(std::string_view key, std::string_view value) {
  const bool plain = value.size() >= 2 && value.front() == '"' && value.find('\\') == value.npos;
  if (!plain) return bad_field(key, value);
  return std::string(value.substr(1, value.size() - 2));
}

Result<int> arch_in(std::string_view metadata) {
  BATON_TRY_ASSIGN(const std::string_view target, need(metadata, "target"));
  if (!target.starts_with('{')) return bad_field("target", target);
  BATON_TRY_ASSIGN(const std::string_view backend, need(target, "backend"));
  if (backend != "\"cuda\"") {
    return failure(StatusCode::kUnimplemented, "The kernel is compiled for ", backend,
                   "; what is imported is for \"cuda\".");
  }
  BATON_TRY_ASSIGN(const std::string_view arch, need(target, "arch"));
  BATON_TRY_ASSIGN(const uint32_t parsed, number("arch", arch));
  return static_cast<int>(parsed);
}

// The metadata alone.
Result<TritonKernel> read_metadata(std::string_view metadata) {
  TritonKernel kernel;
  BATON_TRY_ASSIGN(const std::string_view name, need(metadata, "name"));
  BATON_TRY_ASSIGN(kernel.name, string_of("name", name));
  BATON_TRY_ASSIGN(kernel.arch, arch_in(metadata));
  BATON_TRY_ASSIGN(const std::string_view warps, need(metadata, "num_warps"));
  BATON_TRY_ASSIGN(const uint32_t warp_count, number("num_warps", warps));
  if (warp_count == 0 || warp_count > 32) return bad_field("num_warps", warps);
  kernel.launch.block = kWarp * warp_count;
  BATON_TRY_ASSIGN(const std::string_view shared, need(metadata, "shared"));
  BATON_TRY_ASSIGN(kernel.launch.shared_bytes, number("shared", shared));
  BATON_TRY_ASSIGN(kernel.launch.cluster, number_in(metadata, "num_ctas", 1));
  if (kernel.launch.cluster == 0 || kernel.launch.cluster > 16)
    return bad_field("num_ctas", text(kernel.launch.cluster));
  BATON_TRY_ASSIGN(kernel.launch.cooperative, flag_in(metadata, "launch_cooperative_grid"));
  BATON_TRY_ASSIGN(kernel.launch.early, flag_in(metadata, "launch_pdl"));
  BATON_TRY_ASSIGN(const auto version, field_in(metadata, "triton_version"));
  if (version) {
    BATON_TRY_ASSIGN(kernel.version, string_of("triton_version", *version));
  }
  for (const std::string_view key : {"global_scratch_size", "profile_scratch_size"}) {
    BATON_TRY_ASSIGN(const auto scratch, json_field(metadata, key));
    if (!scratch) continue;
    BATON_TRY_ASSIGN(const uint32_t bytes,
                     number_in(metadata, key, 0));  // The pointer is there, whatever it points to.
    kernel.launch.scratch_bytes[kernel.launch.hidden_pointers++] = bytes;
  }
  return kernel;
}

Status mismatch(const TritonKernel& kernel, std::string_view what) {
  return failure(StatusCode::kFailedPrecondition, "The metadata of kernel '", kernel.name,
                 "' does not fit its cubin: ", what, ".");
}

}  // namespace

Result<TritonKernel> read_triton(std::string_view metadata, std::span<const std::byte> code) {
  BATON_TRY_ASSIGN(TritonKernel kernel, read_metadata(metadata));
  BATON_TRY_ASSIGN(const hal::Cubin cubin, hal::read_cubin(code));
  if (cubin.arch != 0 && cubin.arch != kernel.arch) {
    return mismatch(kernel, text("it says sm_", kernel.arch, ", and the code is for sm_", cubin.arch));
  }
  const auto found = std::find_if(cubin.kernels.begin(), cubin.kernels.end(),
                                  [&](const hal::CubinKernel& one) { return one.name == kernel.name; });
  if (found == cubin.kernels.end()) {
    std::vector<std::string_view> names;
    for (const hal::CubinKernel& one : cubin.kernels) names.push_back(one.name);
    const Status missing = hal::no_entry_point("the code", kernel.name, names);
    std::string_view told = missing.message();
    if (told.ends_with('.')) told.remove_suffix(1);  // mismatch() ends the sentence.
    return mismatch(kernel, std::string(told));
  }
  const uint32_t threads = found->block_required[0];
  if (threads != 0 && threads != kernel.launch.block) {
    return mismatch(kernel,
                    text("it says ", kernel.launch.block / kWarp, " warps, and the code is for ", threads, " threads"));
  }
  const size_t hidden = kernel.launch.hidden_pointers;
  const auto& all = found->parameters;
  const bool has_hidden = all.size() >= hidden && std::all_of(all.end() - static_cast<ptrdiff_t>(hidden), all.end(),
                                                              [](const auto& one) { return one.bytes == 8; });
  if (!has_hidden) {
    return mismatch(kernel, text("it says ", hidden, " scratch pointers, and the code takes ", all.size(),
                                 " parameters that do not end in them"));
  }
  kernel.parameters.assign(all.begin(), all.end() - static_cast<ptrdiff_t>(hidden));
  kernel.launch.parameter_count = static_cast<uint32_t>(kernel.parameters.size());
  return kernel;
}

Result<Ref<KernelLibrary>> make_triton_library(std::string_view metadata, std::span<const std::byte> cubin,
                                               std::shared_ptr<const hal::DriverRegistry> drivers) {
  BATON_TRY_ASSIGN(const TritonKernel kernel, read_triton(metadata, cubin));
  const std::string format = text("cuda-sm_", kernel.arch);
  const KernelVariant variant{format, cubin};
  BATON_TRY_ASSIGN(Ref<KernelLibrary> library, KernelLibrary::make(kernel.name, {&variant, 1}, std::move(drivers)));
  library->set_defaults(kernel.launch);
  return library;
}

}  // namespace baton::modules
