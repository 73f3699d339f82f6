#include "hal/device.hpp"

#include "hal/allocator.hpp"
#include "hal/binding_table.hpp"

namespace baton::hal {
namespace {

Status no_variant_fits(const Device& device, const ExecutableRequest& request) {
  std::string reasons;
  for (const ExecutableVariant& variant : request.variants) {
    const std::string reason =
        variant.ruled_out ? "the program's condition for it does not hold" : device.match_format(variant.format).reason;
    reasons += text("\n  '", variant.format, "': ", reason);
  }
  return failure(StatusCode::kNotFound, "None of the ", request.variants.size(), " variants of executable '",
                 request.name, "' fits device '", device.name(), "'.", reasons);
}

}  // namespace

Result<std::unique_ptr<CommandBuffer>> Device::make_command_buffer(const RecordingOptions& options) {
  if (options.slot_count > kSlotsMax || options.constant_slot_count > kSlotsMax) {
    return failure(StatusCode::kOutOfRange, "Command buffer \"", options.name, "\" asks for ", options.slot_count,
                   " slots and ", options.constant_slot_count, " constant slots; at most ", kSlotsMax,
                   " of each are possible.");
  }
  return do_make_command_buffer(options);
}

Result<Ref<Executable>> Device::make_executable(const ExecutableRequest& request) {
  const ExecutableVariant* best = nullptr;
  int32_t best_rank = -1;
  for (const ExecutableVariant& variant : request.variants) {
    const int32_t rank = variant.ruled_out ? -1 : match_format(variant.format).rank;
    if (rank <= best_rank) continue;
    best = &variant;
    best_rank = rank;
  }
  if (!best) return no_variant_fits(*this, request);
  ExecutableRequest chosen = request;
  if (!best->constants.empty()) chosen.constants = best->constants;
  if (!best->expected.empty()) chosen.expected = best->expected;
  auto executable = do_make_executable(chosen, *best);
  if (executable.has_value()) {
    (*executable)->variant_ = static_cast<uint32_t>(best - request.variants.data());
    return executable;
  }
  return std::move(executable)
      .error()
      .with_context(text("while loading variant '", best->format, "' of executable '", request.name, "'"));
}

Result<Ref<Channel>> Device::make_channel(const ChannelRequest& request) {
  BATON_TRY(validate(request));
  auto channel = request.rank_count == 1 ? Result<Ref<Channel>>(make_ref<Channel>(request.name, 0u, 1u))
                                         : do_make_channel(request);
  if (channel.has_value()) {
    Device* home = allocator().device();  // A device in front of another one records there.
    (*channel)->device_ = Ref<Device>(home ? home : this);
    return channel;
  }
  return std::move(channel).error().with_context(text("while rank ", request.rank, " of ", request.rank_count,
                                                      " made channel '", request.name, "' on device '", name_, "'"));
}

Result<Ref<Channel>> Device::do_make_channel(const ChannelRequest&) {
  return failure(StatusCode::kUnimplemented, "Device '", name_, "' has no peers; its channels have one rank.");
}

Result<int64_t> Device::query(std::string_view category, std::string_view key) const {
  if (category == "hal.device" && key == "bindings_max") return int64_t{limits_.bindings_max};
  if (category == "hal.device" && key == "constants_max") return int64_t{limits_.constants_max};
  if (category == "hal.executable.format") return int64_t{match_format(key).rank >= 0 ? 1 : 0};
  return failure(StatusCode::kNotFound, "Device '", name_, "' knows nothing about '", category, "' '", key, "'.");
}

}  // namespace baton::hal
