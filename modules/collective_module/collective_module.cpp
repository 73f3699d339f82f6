#include "modules/collective_module/collective_module.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hal/commands/collective.hpp"
#include "modules/hal_module/objects.hpp"
#include "modules/hal_module/resource.hpp"
#include "modules/sdk/recording.h"
#include "modules/shared_module.hpp"

namespace baton::modules {
namespace {

using Commands = Handle<hal::CommandBuffer>;

// What the command is without its memory.
struct Kind {
  hal::CollectiveOperation operation;
  uint32_t reduction = 0;
  uint32_t root = 0;
  uint32_t to = hal::kNoRank;
  uint32_t from = hal::kNoRank;
};

Status to_collective_binding(Resource resource, hal::Binding& binding) {
  resource.slot &= (int64_t{1} << 34) - 1;  // Without the element type and the rank.
  return to_binding(resource, binding);
}

// One for each context. A channel of all ranks is made for a device when its first collective is recorded, which all
// ranks do in one order.
class CollectiveModule final : public sdk::Module<CollectiveModule> {
 public:
  explicit CollectiveModule(hal::Ranks ranks) : ranks_(std::move(ranks)) {}
  CollectiveModule for_context() const { return CollectiveModule(ranks_); }

  uint32_t rank() const { return ranks_.rank; }
  uint32_t count() const { return ranks_.count; }

  // The group of the ranks that say the same color, by its number; the same again for what was said before at this site.
  // Ranks split on a channel that has no collectives, because those of the program may still run.
  baton::Result<int32_t> split(hal::Device& device, int32_t site, int32_t color, int32_t key) {
    if (color < 0) color = kNoGroup;
    for (size_t i = 0; i < groups_.size(); ++i) {
      const Group& group = groups_[i];
      if (group.device != &device || group.site != site) continue;
      if (group.color == color && group.key == key) return number_of(i);
    }
    baton::Ref<hal::Channel>& splitter = splitters_[&device];
    if (!splitter) {
      BATON_TRY_ASSIGN(splitter, device.make_channel(ranks_.channel("collective.split")));
    }
    BATON_TRY_ASSIGN(baton::Ref<hal::Channel> channel, splitter->split(color, key));
    groups_.push_back({&device, site, color, key, std::move(channel), {}});
    return number_of(groups_.size() - 1);
  }
  // All ranks once more, as a group of that name: where all of them say it, they meet; what one of them does there no channel of
  // another name waits for.
  baton::Result<int32_t> named(hal::Device& device, std::string_view name) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].device == &device && groups_[i].name == name) return number_of(i);
    }
    if (name.empty()) {
      return baton::failure(baton::StatusCode::kInvalidArgument,
                            "A group of ranks is named by nothing; the channel of ",
                            "all of them is the one without a name.");
    }
    BATON_TRY_ASSIGN(baton::Ref<hal::Channel> channel,
                     device.make_channel(ranks_.channel(baton::text("collective.named.", name))));
    groups_.push_back({&device, kNoGroup, 0, 0, std::move(channel), std::string(name)});
    return number_of(groups_.size() - 1);
  }
  baton::Result<uint32_t> group_rank(int32_t group) const {
    BATON_TRY_ASSIGN(const hal::Channel* channel, channel_of(group));
    return channel->rank();
  }
  baton::Result<uint32_t> group_count(int32_t group) const {
    BATON_TRY_ASSIGN(const hal::Channel* channel, channel_of(group));
    return channel->rank_count();
  }

  baton::Status all_reduce(Commands& commands, Resource source, uint32_t reduction, Resource target) {
    return record(commands, {hal::CollectiveOperation::kAllReduce, reduction}, source, target);
  }
  baton::Status all_reduce_in(Commands& commands, Resource source, uint32_t reduction, int32_t group, Resource target) {
    return record_in(group, commands, {hal::CollectiveOperation::kAllReduce, reduction}, source, target);
  }
  baton::Status all_gather_in(Commands& commands, Resource source, int32_t group, Resource target) {
    return record_in(group, commands, {hal::CollectiveOperation::kAllGather}, source, target);
  }
  baton::Status reduce_scatter_in(Commands& commands, Resource source, uint32_t reduction, int32_t group,
                                  Resource target) {
    return record_in(group, commands, {hal::CollectiveOperation::kReduceScatter, reduction}, source, target);
  }
  baton::Status all_to_all_in(Commands& commands, Resource source, int32_t group, Resource target) {
    return record_in(group, commands, {hal::CollectiveOperation::kAllToAll}, source, target);
  }
  baton::Status broadcast_in(Commands& commands, Resource source, uint32_t root, int32_t group, Resource target) {
    return record_in(group, commands, {hal::CollectiveOperation::kBroadcast, 0, root}, source, target);
  }
  baton::Status permute_in(Commands& commands, Resource source, uint32_t to, uint32_t from, int32_t group,
                           Resource target) {
    return record_in(group, commands, {hal::CollectiveOperation::kPermute, 0, 0, to, from}, source, target);
  }
  baton::Status all_gather(Commands& commands, Resource source, Resource target) {
    return record(commands, {hal::CollectiveOperation::kAllGather}, source, target);
  }
  baton::Status reduce_scatter(Commands& commands, Resource source, uint32_t reduction, Resource target) {
    return record(commands, {hal::CollectiveOperation::kReduceScatter, reduction}, source, target);
  }
  baton::Status broadcast(Commands& commands, Resource source, uint32_t root, Resource target) {
    return record(commands, {hal::CollectiveOperation::kBroadcast, 0, root}, source, target);
  }
  baton::Status all_to_all(Commands& commands, Resource source, Resource target) {
    return record(commands, {hal::CollectiveOperation::kAllToAll}, source, target);
  }
  baton::Status permute(Commands& commands, Resource source, uint32_t to, uint32_t from, Resource target) {
    return record(commands, {hal::CollectiveOperation::kPermute, 0, 0, to, from}, source, target);
  }

 private:
  static constexpr int32_t kNoGroup = -1;
  struct Group {
    hal::Device* device;  // Which the splitter keeps.
    int32_t site;
    int32_t color;
    int32_t key;
    baton::Ref<hal::Channel> channel;  // Null: this rank is in none.
    std::string name;                  // Of one that was not split.
  };

  int32_t number_of(size_t index) const { return groups_[index].channel ? static_cast<int32_t>(index) : kNoGroup; }

  baton::Result<hal::Channel*> channel_of(int32_t group) const {
    const auto index = static_cast<size_t>(group);
    if (group >= 0 && index < groups_.size() && groups_[index].channel) return groups_[index].channel.get();
    return baton::failure(baton::StatusCode::kFailedPrecondition, "Rank ", ranks_.rank, " of ", ranks_.count,
                          " is in no group of the number ", group, ".");
  }

  baton::Status record_in(int32_t group, Commands& commands, const Kind& kind, Resource source, Resource target) {
    BATON_TRY_ASSIGN(hal::Channel * channel, channel_of(group));
    return record_on(channel, commands, kind, source, target);
  }
  baton::Status record(Commands& commands, const Kind& kind, Resource source, Resource target) {
    BATON_TRY_ASSIGN(hal::Channel * channel, channel_on(commands.device()));
    return record_on(channel, commands, kind, source, target);
  }
  static baton::Status record_on(hal::Channel* channel, Commands& commands, const Kind& kind, Resource source,
                                 Resource target) {
    const uint32_t type = BATON_SLOT_ELEMENT_TYPE(source.slot);
    hal::commands::Collective command{
        .channel = channel,
        .operation = kind.operation,
        .reduction = static_cast<hal::Reduction>(std::min(kind.reduction, 255u)),
        .element_type = type ? static_cast<hal::ElementType>(type) : hal::ElementType::kU8,
        .root = kind.root,
        .to = kind.to,
        .from = kind.from};
    BATON_TRY_CONTEXT(to_collective_binding(source, command.source), "in the source of a collective");
    BATON_TRY_CONTEXT(to_collective_binding(target, command.target), "in the target of a collective");
    return (*commands).collective(command);
  }

  baton::Result<hal::Channel*> channel_on(hal::Device& device) {
    baton::Ref<hal::Channel>& channel = channels_[&device];
    if (!channel) {
      BATON_TRY_ASSIGN(channel, device.make_channel(ranks_.channel("collective")));
    }
    return channel.get();
  }

  hal::Ranks ranks_;
  std::map<hal::Device*, baton::Ref<hal::Channel>> channels_, splitters_;  // Which keep their devices.
  std::vector<Group> groups_;                                              // By their numbers.
};

template <auto kFunction>
constexpr sdk::Export command(const char* name) {
  return sdk::function<kFunction>(name, BATON_TRAIT_COMMAND | BATON_TRAIT_TYPED_TENSORS);
}

}  // namespace

Result<Ref<const vm::Module>> make_collective_module(hal::Ranks ranks) {
  using Module = CollectiveModule;
  const std::initializer_list<sdk::Export> exported = {
      BATON_FUNCTION("rank", &Module::rank),
      BATON_FUNCTION("count", &Module::count),
      command<&Module::all_reduce>("all_reduce"),
      command<&Module::all_gather>("all_gather"),
      command<&Module::reduce_scatter>("reduce_scatter"),
      command<&Module::broadcast>("broadcast"),
      command<&Module::all_to_all>("all_to_all"),
      command<&Module::permute>("permute"),
      BATON_FUNCTION("split", &Module::split),
      BATON_FUNCTION("named", &Module::named),
      BATON_FUNCTION("group_rank", &Module::group_rank),
      BATON_FUNCTION("group_count", &Module::group_count),
      command<&Module::all_reduce_in>("all_reduce_in"),
      command<&Module::all_gather_in>("all_gather_in"),
      command<&Module::reduce_scatter_in>("reduce_scatter_in"),
      command<&Module::all_to_all_in>("all_to_all_in"),
      command<&Module::permute_in>("permute_in"),
      command<&Module::broadcast_in>("broadcast_in"),
  };
  return make_shared_module<CollectiveModule>("collective", exported, std::move(ranks));
}

}  // namespace baton::modules
