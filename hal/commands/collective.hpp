// collective: the ranks of a channel combine or exchange what they hold.
//
// With n ranks: all_gather writes n times what it reads, reduce_scatter reads n times what it writes, the others write
// as much as they read.
#pragma once

#include "hal/channel.hpp"
#include "hal/commands/checks.hpp"
#include "hal/commands/fields.hpp"
#include "hal/element_type.hpp"

namespace baton::hal::commands {

enum class CollectiveOperation : uint8_t { kAllReduce, kAllGather, kReduceScatter, kBroadcast };
enum class Reduction : uint8_t { kNone, kSum, kProduct, kMinimum, kMaximum };

std::string_view collective_name(CollectiveOperation operation);
std::string_view reduction_name(Reduction reduction);

struct Collective {
  Channel* channel = nullptr;
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Reduction reduction = Reduction::kNone;  // Of all_reduce and reduce_scatter.
  ElementType element_type = ElementType::kF32;
  uint32_t root = 0;  // The rank that broadcasts.
  Binding source = {};
  Binding target = {};

  template <typename Command, typename Visitor>
  static void visit(Command& command, Visitor& visitor) {
    visitor.object("channel", command.channel);
    visitor.word("operation", collective_name(command.operation));
    visitor.word("reduction", reduction_name(command.reduction));
    visitor.word("element_type", element_type_name(command.element_type));
    visitor.integer("root", command.root);
    visitor.binding("source", command.source, BufferUsage::kDispatchRead);
    visitor.binding("target", command.target, BufferUsage::kDispatchWrite);
  }
};

Status validate(const Collective& command, const RecordingScope& scope);

}  // namespace baton::hal::commands
