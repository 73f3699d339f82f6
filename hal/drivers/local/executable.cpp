#include "hal/drivers/local/executable.hpp"

#include <algorithm>

#include "hal/device_limits.hpp"
#include "hal/drivers/local/kernel_imports.hpp"
#include "hal/drivers/local/library_tables.hpp"
#include "hal/drivers/local/processor.hpp"
#include "hal/drivers/local/sanitizer.hpp"

namespace baton::hal::drivers::local {
namespace {

int call_import(baton_import_function function, void* params, void* context, void* reserved) {
  return function(params, context, reserved);
}

Status check_library(const baton_executable_library* library) {
  if (!library) {
    return failure(StatusCode::kFailedPrecondition, "The library has nothing for version ",
                   BATON_EXECUTABLE_LIBRARY_VERSION_CHECKED, " or below.");
  }
  const bool known = library->version == BATON_EXECUTABLE_LIBRARY_VERSION ||
                     library->version == BATON_EXECUTABLE_LIBRARY_VERSION_CHECKED;
  if (!known || library->struct_size < sizeof(*library)) {
    return failure(StatusCode::kFailedPrecondition, "The library has version ", library->version, " (",
                   library->struct_size, " bytes); this runtime takes versions up to ",
                   BATON_EXECUTABLE_LIBRARY_VERSION_CHECKED, " (", sizeof(*library), ").");
  }
  if (library->sanitizer != BATON_SANITIZER_NONE && library->sanitizer != kHostSanitizer) {
    return failure(StatusCode::kFailedPrecondition, "The library was built with sanitizer ", library->sanitizer,
                   ", the runtime with ", kHostSanitizer, ".");
  }
  if (library->kernel_count != 0 && (!library->kernels || !library->kernel_names)) {
    return failure(StatusCode::kDataLoss, "The library has ", library->kernel_count, " kernels but no table of them.");
  }
  return {};
}

EntryPoint describe(const baton_executable_library& library, uint32_t ordinal) {
  EntryPoint entry;
  entry.name = library.kernel_names[ordinal];
  entry.layout_known = library.kernel_attributes != nullptr;
  if (!entry.layout_known) return entry;
  const baton_kernel_attributes& attributes = library.kernel_attributes[ordinal];
  entry.constant_count = attributes.constant_count;
  entry.binding_count = attributes.binding_count;
  entry.workgroup_size[0] = std::max(attributes.workgroup_size_x, 1u);
  entry.workgroup_size[1] = std::max(attributes.workgroup_size_y, 1u);
  entry.workgroup_size[2] = std::max(attributes.workgroup_size_z, 1u);
  entry.local_memory_bytes = attributes.local_memory_size;
  return entry;
}

}  // namespace

Executable::Executable(const ExecutableContext& context, const ExecutableRequest& request, Ref<CodeImage> image)
    : hal::Executable(request, context.device),
      image_(std::move(image)),
      max_concurrency_(context.max_concurrency),
      dispatch_times_(context.dispatch_times),
      constants_(request.constants.begin(), request.constants.end()) {
  environment_.constants = constants_.data();
  environment_.import_thunk = call_import;
  environment_.processor = host_processor();
}

Status Executable::adopt_library(const baton_executable_library* library, size_t constant_count) {
  if (image_ && library) BATON_TRY(check_tables(library, *image_));
  BATON_TRY(check_library(library));
  if (library->constant_count != constant_count) {
    return failure(StatusCode::kInvalidArgument, "The library takes ", library->constant_count,
                   " specialization constants; ", constant_count, " given.");
  }
  library_ = library;
  tile_costs_ = std::make_unique<MeasuredCost[]>(library->kernel_count);
  for (uint32_t i = 0; i < library->kernel_count; ++i) {
    if (!library->kernels[i] || !library->kernel_names[i]) {
      return failure(StatusCode::kDataLoss, "Kernel ", i, " of the library has no code or no name.");
    }
    entry_points_.push_back(describe(*library, i));
    if (entry_points_.back().local_memory_bytes > DeviceLimits{}.local_memory_bytes_max) {
      return failure(StatusCode::kResourceExhausted, "Kernel '", entry_points_.back().name, "' needs ",
                     entry_points_.back().local_memory_bytes, " bytes of local memory; the device has ",
                     DeviceLimits{}.local_memory_bytes_max, ".");
    }
  }
  return {};
}

Status Executable::check_expected(std::span<const EntryPoint> expected, bool by_name) {
  if (by_name) {
    for (const EntryPoint& each : expected) {
      BATON_TRY_ASSIGN([[maybe_unused]] const uint32_t index, find(each.name));
    }
    return {};
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (i < entry_points_.size() && entry_points_[i].name == expected[i].name) continue;
    return failure(StatusCode::kFailedPrecondition, "The program expects entry point ", i, " to be '", expected[i].name,
                   "'; the library has ", i < entry_points_.size() ? text("'", entry_points_[i].name, "'") : "none",
                   " there.");
  }
  return {};
}

const baton_access_check* Executable::access_check(uint32_t number) const {
  if (library_->version != BATON_EXECUTABLE_LIBRARY_VERSION_CHECKED) return nullptr;
  const auto& checked = *reinterpret_cast<const baton_checked_library*>(library_);
  return number != 0 && number <= checked.check_count ? &checked.checks[number - 1] : nullptr;
}

Result<Ref<hal::Executable>> Executable::make(const ExecutableContext& context, const ExecutableRequest& request,
                                              LoadedCode code) {
  auto executable = make_ref<Executable>(context, request, std::move(code.image));
  const baton_executable_library* library =
      code.query(BATON_EXECUTABLE_LIBRARY_VERSION_CHECKED, &executable->environment_);
  BATON_TRY(executable->adopt_library(library, request.constants.size()));
  BATON_TRY(executable->check_expected(request.expected, request.expected_by_name));
  executable->import_functions_.resize(library->import_count);
  executable->import_contexts_.resize(library->import_count);
  BATON_TRY(context.imports.resolve(
      {{library->imports, library->import_count}, executable->import_functions_, executable->import_contexts_}));
  executable->environment_.import_functions = executable->import_functions_.data();
  executable->environment_.import_contexts = executable->import_contexts_.data();
  return Ref<hal::Executable>(std::move(executable));
}

}  // namespace baton::hal::drivers::local
