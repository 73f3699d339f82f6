// hal.channel.*, and the command that works on one.

#include "hal/commands/all.hpp"
#include "modules/hal_module/exports.hpp"

namespace baton::modules::exports {

namespace channel {

Result<Ref<hal::Channel>> split(hal::Channel& channel, int32_t color, int32_t key) { return channel.split(color, key); }
uint32_t rank(const hal::Channel& channel) { return channel.rank(); }
uint32_t count(const hal::Channel& channel) { return channel.rank_count(); }

}  // namespace channel

namespace command_buffer {
namespace {

// Numbers beyond the tables stay beyond them: the validating layer names them.
template <typename Enum>
Enum numbered(uint32_t number) {
  return static_cast<Enum>(number < 255 ? number : 255);
}

}  // namespace

Status collective(Commands& commands, hal::Channel& channel, uint32_t operation, uint32_t reduction,
                  uint32_t element_type, uint32_t root, uint32_t to, uint32_t from, Resource source, Resource target) {
  hal::commands::Collective command{.channel = &channel,
                                    .operation = numbered<hal::CollectiveOperation>(operation),
                                    .reduction = numbered<hal::Reduction>(reduction),
                                    .element_type = static_cast<hal::ElementType>(element_type),
                                    .root = root,
                                    .to = to,
                                    .from = from};
  BATON_TRY_CONTEXT(to_binding(source, command.source), "in the source of a collective");
  BATON_TRY_CONTEXT(to_binding(target, command.target), "in the target of a collective");
  return commands.collective(command);
}

}  // namespace command_buffer
}  // namespace baton::modules::exports
