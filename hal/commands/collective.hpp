// collective: the ranks of a channel combine or exchange what they hold.
//
// With n ranks: all_gather writes n times what it reads, reduce_scatter reads n times what it writes, send only reads,
// receive only writes, the others write as much as they read. A send waits for its receive; a permute sends to one rank
// and receives from another, and a rank that receives from nobody gets zeros. On an i1, sum and maximum are "or".
#pragma once

#include "hal/channel.hpp"
#include "hal/commands/checks.hpp"
#include "hal/commands/fields.hpp"
#include "hal/element_type.hpp"

namespace baton::hal {

constexpr bool reduces(CollectiveOperation operation) {
  return operation == CollectiveOperation::kAllReduce || operation == CollectiveOperation::kReduceScatter ||
         operation == CollectiveOperation::kReduce;
}
constexpr bool has_root(CollectiveOperation operation) {
  return operation == CollectiveOperation::kBroadcast || operation == CollectiveOperation::kReduce;
}
constexpr bool sends_to_one(CollectiveOperation operation) {
  return operation == CollectiveOperation::kSend || operation == CollectiveOperation::kPermute;
}
constexpr bool receives_from_one(CollectiveOperation operation) {
  return operation == CollectiveOperation::kReceive || operation == CollectiveOperation::kPermute;
}

}  // namespace baton::hal

namespace baton::hal::commands {

using hal::CollectiveOperation;
using hal::Reduction;

std::string_view collective_name(CollectiveOperation operation);
std::string_view reduction_name(Reduction reduction);

struct Collective {
  Channel* channel = nullptr;
  CollectiveOperation operation = CollectiveOperation::kAllReduce;
  Reduction reduction = Reduction::kNone;  // Of all_reduce, reduce_scatter and reduce.
  ElementType element_type = ElementType::kF32;
  uint32_t root = 0;        // The rank that broadcasts, or gets what is reduced.
  uint32_t to = kNoRank;    // Of send and permute.
  uint32_t from = kNoRank;  // Of receive and permute.
  Binding source = {};
  Binding target = {};

  template <typename Command, typename Visitor>
  static void visit(Command& command, Visitor& visitor) {
    visitor.object("channel", command.channel);
    visitor.word("operation", collective_name(command.operation));
    visitor.word("reduction", reduction_name(command.reduction));
    visitor.word("element_type", element_type_name(command.element_type));
    if (has_root(command.operation)) visitor.integer("root", command.root);
    if (sends_to_one(command.operation) && command.to != kNoRank) visitor.integer("to", command.to);
    if (receives_from_one(command.operation) && command.from != kNoRank) visitor.integer("from", command.from);
    if (command.operation != CollectiveOperation::kReceive) {
      visitor.binding("source", command.source, BufferUsage::kDispatchRead);
    }
    if (command.operation != CollectiveOperation::kSend) {
      visitor.binding("target", command.target, BufferUsage::kDispatchWrite);
    }
  }
};

Status validate(const Collective& command, const RecordingScope& scope);

}  // namespace baton::hal::commands
