// collective on CUDA: alone, every operation is a copy; with others it is NCCL's work, enqueued and captured as a
// library's is (foreign.cpp), between barriers, so that all ranks come to their collectives in one order.

#include "hal/commands/collective.hpp"

#include <algorithm>

#include "hal/commands/copy_buffer.hpp"
#include "hal/drivers/cuda/command_buffer.hpp"
#include "hal/drivers/cuda/nccl_channel.hpp"

namespace baton::hal::drivers::cuda {
namespace {

class CollectiveFunction final : public ForeignFunction {
 public:
  explicit CollectiveFunction(const commands::Collective& command)
      : ForeignFunction(text(commands::collective_name(command.operation), " of channel ", command.channel->name())),
        channel_(static_cast<NcclChannel*>(command.channel)),
        command_(command) {}

  // The bindings are the command's, without the side that a send or a receive doesn't have.
  Status record(const ForeignArguments& arguments) override {
    StreamV1 stream = {.struct_size = sizeof(stream)};
    BATON_TRY(arguments.scope.extension(kStreamExtension, &stream));
    const ForeignBinding none = {};
    const bool receives = command_.operation == CollectiveOperation::kReceive;
    const ForeignBinding& source = receives ? none : arguments.bindings.front();
    const ForeignBinding& target = command_.operation == CollectiveOperation::kSend ? none : arguments.bindings.back();
    return channel_->enqueue(command_, source, target, static_cast<CUstream>(stream.stream));
  }

 private:
  const Ref<NcclChannel> channel_;
  const commands::Collective command_;  // Its bindings are not looked at.
};

}  // namespace

void Recording::add_channel(NcclChannel& channel) {
  const auto is_it = [&](const Ref<NcclChannel>& known) { return known.get() == &channel; };
  if (std::none_of(channels_.begin(), channels_.end(), is_it)) channels_.emplace_back(&channel);
  has_channels_ = true;
}

Status Recording::channel_failure() const {
  for (const Ref<NcclChannel>& channel : channels_) BATON_TRY(channel->check());
  return {};
}

Status Recording::known_channel_failure() const {
  for (const Ref<NcclChannel>& channel : channels_) BATON_TRY(channel->known());
  return {};
}

void Recording::watch_channels(const Ref<Mark>& mark) const {
  for (const Ref<NcclChannel>& channel : channels_) channel->watch(mark);
}

Status CommandBuffer::collective(const commands::Collective& command) {
  const bool nobody = command.operation == CollectiveOperation::kPermute && command.from == kNoRank;
  if (command.channel->rank_count() == 1 && nobody) return fill_buffer({.target = command.target, .pattern_bytes = 1});
  if (command.channel->rank_count() == 1) return copy_buffer({.source = command.source, .target = command.target});
  BATON_TRY_ASSIGN(const NcclType as, nccl_type(command.operation, command.reduction, command.element_type));
  static_cast<void>(as);
  const auto function = make_ref<CollectiveFunction>(command);
  Binding bindings[2] = {command.source, command.target};
  bindings[0].access = Access::kRead;
  bindings[1].access = Access::kWrite;
  std::span<const Binding> used = bindings;
  if (command.operation == CollectiveOperation::kSend) used = used.first(1);
  if (command.operation == CollectiveOperation::kReceive) used = used.last(1);
  auto* const channel = static_cast<NcclChannel*>(command.channel);
  BATON_TRY(channel->compare(command));
  BATON_TRY(channel->prepare(command));
  recording_->add_channel(*channel);
  BATON_TRY(barrier({}));
  BATON_TRY(foreign({.function = function.get(), .bindings = used}));
  return barrier({});
}

}  // namespace baton::hal::drivers::cuda
