// Calls with tensors, traces and device functions for C programs: the end of modules/sdk/embed_device.h.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include "base/timeline.hpp"
#include "hal/host_copy.hpp"
#include "hal/uploads.hpp"
#include "modules/app/function.hpp"
#include "modules/device_opening.hpp"
#include "modules/door_checks.hpp"
#include "modules/embed_objects.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/sdk/embed_device.h"

struct baton_trace {
  baton::Timeline timeline;
};

namespace {

using baton::Ref;
using baton::Result;
using baton::Status;
using baton::StatusCode;
using baton::app::Tensor;
using baton::modules::is_null;
using baton::modules::lacks;
using baton::modules::missing;
using baton::modules::missing_room;
using baton::modules::to_door;
namespace app = baton::app;
namespace hal = baton::hal;

// By one operation of the device, which the call comes behind.
Result<std::vector<Tensor>> upload(hal::Device& device, std::span<const baton_tensor> inputs) {
  hal::Uploads uploads(device);
  std::vector<Ref<hal::BufferView>> views;
  for (const baton_tensor& input : inputs) {
    if (input.rank > BATON_TENSOR_RANK_MAX) {
      return failure(StatusCode::kInvalidArgument, "Input ", views.size(), " has rank ", input.rank, "; at most ",
                     BATON_TENSOR_RANK_MAX, " is possible.");
    }
    if (lacks(input.data, input.size)) return is_null(baton::text("data of input ", views.size()));
    auto made = uploads.add(static_cast<hal::ElementType>(input.element_type), {input.shape, input.rank},
                            {static_cast<const std::byte*>(input.data), static_cast<size_t>(input.size)});
    if (!made) return std::move(made).error().with_context(baton::text("in input ", views.size()));
    views.push_back(*std::move(made));
  }
  BATON_TRY_ASSIGN(const Ref<hal::Fence> ready, uploads.begin());
  std::vector<Tensor> tensors;
  for (Ref<hal::BufferView>& view : views) tensors.emplace_back(Ref<hal::Device>(&device), std::move(view), ready);
  return tensors;
}

Status download(const Tensor& result, size_t index, baton_tensor& output) {
  if (!result) return failure(StatusCode::kFailedPrecondition, "Result ", index, " is null.");
  const uint64_t size = result.view()->length_bytes();
  if (size > output.size || result.shape().size() > BATON_TENSOR_RANK_MAX) {
    return failure(StatusCode::kResourceExhausted, "Result ", index, " is a ", result.type_text(), " of ", size,
                   " bytes; there is room for ", output.size, " and ", BATON_TENSOR_RANK_MAX, " dimensions.");
  }
  if (lacks(output.data, size)) return is_null(baton::text("memory for result ", index));
  BATON_TRY(hal::copy_to_host(*result.device(), result.view()->buffer(),
                              {static_cast<std::byte*>(output.data), static_cast<size_t>(size)}));
  output.element_type = static_cast<uint32_t>(result.element_type());
  output.rank = static_cast<uint32_t>(result.shape().size());
  std::copy(result.shape().begin(), result.shape().end(), output.shape);
  output.size = size;
  return {};
}

Status call(const Ref<baton::vm::Context>& context, const baton_device* target, const char* name,
            std::span<const baton_tensor> inputs, std::span<baton_tensor> outputs) {
  auto* const device =
      baton::modules::unwrap<hal::Device>(reinterpret_cast<baton_object*>(const_cast<baton_device*>(target)));
  if (!device) return failure(StatusCode::kInvalidArgument, "A device is null or another object.");
  // No signature has more.
  if (std::max(inputs.size(), outputs.size()) > UINT16_MAX) {
    return failure(StatusCode::kInvalidArgument, "Function '", name, "' is called with ", inputs.size(),
                   " inputs and room for ", outputs.size(), " results, more than any function has.");
  }
  BATON_TRY_ASSIGN(auto function,
                   app::TensorFunction::find(context, name, Ref<hal::Device>(device), inputs.size(), outputs.size()));
  BATON_TRY_ASSIGN(const std::vector<Tensor> arguments, upload(*device, inputs));
  BATON_TRY_ASSIGN(const std::vector<Tensor> results, function.call(arguments, outputs.size()));
  for (size_t i = 0; i < results.size(); ++i) BATON_TRY(download(results[i], i, outputs[i]));
  return {};
}

Result<Ref<hal::Device>> open(const char* uri, baton::modules::DeviceOpening opening) {
  BATON_TRY_ASSIGN(std::vector<Ref<hal::Device>> devices, baton::modules::open_devices({uri}, std::move(opening)));
  return std::move(devices.front());
}

Result<Ref<hal::Device>> open_with(const char* uri, const baton_device_options& options) {
  BATON_TRY_ASSIGN(baton::modules::DeviceOpening opening, baton::modules::read_device_options(uri, options));
  opening.timeline = options.trace ? &options.trace->timeline : nullptr;
  return open(uri, std::move(opening));
}

baton_status* give(Result<Ref<hal::Device>> opened, baton_device** out) {
  if (!opened) return to_door(std::move(opened).error());
  *out = reinterpret_cast<baton_device*>(baton::modules::wrap(*std::move(opened)).detach());
  return nullptr;
}

Status write(baton::Timeline& timeline, const char* path) {
  timeline.flush();
  const std::string json = timeline.json();
  std::FILE* const file = std::fopen(path, "wb");
  const bool written = file && std::fwrite(json.data(), 1, json.size(), file) == json.size();
  if (file && std::fclose(file) == 0 && written) return {};
  return failure(StatusCode::kUnavailable, "'", path, "' could not be written (", std::strerror(errno), ").");
}

}  // namespace

extern "C" {

baton_status* baton_call_tensors(baton_context* context, baton_device* device, const char* function,
                                 const baton_tensor* inputs, uint64_t input_count, baton_tensor* outputs,
                                 uint64_t output_count) {
  if (!context) return missing("context");
  if (!function) return missing("name of a function");
  if (lacks(inputs, input_count)) return missing("array of inputs");
  if (lacks(outputs, output_count)) return missing("array of outputs");
  return to_door(call(context->context, device, function, {inputs, static_cast<size_t>(input_count)},
                      {outputs, static_cast<size_t>(output_count)}));
}

baton_status* baton_trace_create(baton_trace** out_trace) {
  if (baton_status* status = missing_room(out_trace)) return status;
  *out_trace = new baton_trace;
  return nullptr;
}
void baton_trace_release(baton_trace* trace) { delete trace; }

baton_status* baton_device_open_traced(const char* uri, baton_trace* trace, baton_device** out_device) {
  if (baton_status* status = missing_room(out_device)) return status;
  if (!uri) return missing("name of a device");
  if (!trace) return missing("trace");
  return give(open(uri, {.timeline = &trace->timeline}), out_device);
}

baton_status* baton_device_open_with(const char* uri, const baton_device_options* options, baton_device** out_device) {
  if (baton_status* status = missing_room(out_device)) return status;
  if (!uri) return missing("name of a device");
  if (!options) return missing("struct of options");
  return give(open_with(uri, *options), out_device);
}

void baton_invocation_set_trace(baton_invocation* invocation, baton_trace* trace) {
  if (!invocation) return;
  invocation->invocation.set_tracer(nullptr);
  invocation->tracer.reset();
  if (trace) invocation->invocation.set_tracer(&invocation->tracer.emplace(trace->timeline));
}

baton_status* baton_trace_write(baton_trace* trace, const char* path) {
  if (!trace) return missing("trace");
  if (!path) return missing("path of a trace");
  return to_door(write(trace->timeline, path));
}

}  // extern "C"
