#include "hal/commands/collective.hpp"

namespace baton::hal::commands {
namespace {

bool reduces(CollectiveOperation operation) {
  return operation == CollectiveOperation::kAllReduce || operation == CollectiveOperation::kReduceScatter;
}

Status check_lengths(const Collective& command, uint64_t rank_count) {
  const uint64_t reads = command.operation == CollectiveOperation::kReduceScatter ? rank_count : 1;
  const uint64_t writes = command.operation == CollectiveOperation::kAllGather ? rank_count : 1;
  if (command.source.length * writes == command.target.length * reads) return {};
  return failure(StatusCode::kInvalidArgument, "Collective ", collective_name(command.operation), " over ", rank_count,
                 " ranks reads ", reads, " and writes ", writes, " equal parts; source (", command.source.length,
                 " bytes) and target (", command.target.length, ") do not fit that.");
}

}  // namespace

std::string_view collective_name(CollectiveOperation operation) {
  switch (operation) {
    case CollectiveOperation::kAllReduce: return "all_reduce";
    case CollectiveOperation::kAllGather: return "all_gather";
    case CollectiveOperation::kReduceScatter: return "reduce_scatter";
    case CollectiveOperation::kBroadcast: return "broadcast";
  }
  return "unknown";
}

std::string_view reduction_name(Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone: return "none";
    case Reduction::kSum: return "sum";
    case Reduction::kProduct: return "product";
    case Reduction::kMinimum: return "minimum";
    case Reduction::kMaximum: return "maximum";
  }
  return "unknown";
}

Status validate(const Collective& command, const RecordingScope& scope) {
  if (!command.channel) return failure(StatusCode::kInvalidArgument, "A collective needs a channel; it has none.");
  const std::string_view name = collective_name(command.operation);
  if (reduces(command.operation) != (command.reduction != Reduction::kNone)) {
    return failure(StatusCode::kInvalidArgument, "Collective ", name, " does not go with reduction ",
                   reduction_name(command.reduction), ".");
  }
  if (command.root >= command.channel->rank_count()) {
    return failure(StatusCode::kOutOfRange, "Collective root (", command.root, ") is not among the ",
                   command.channel->rank_count(), " ranks of the channel.");
  }
  BATON_TRY(check_transfer(scope, "Collective source", command.source, BufferUsage::kDispatchRead));
  BATON_TRY(check_transfer(scope, "Collective target", command.target, BufferUsage::kDispatchWrite));
  BATON_TRY(check_lengths(command, command.channel->rank_count()));
  return check_alignment("Collective source length", command.source.length, element_bytes(command.element_type));
}

}  // namespace baton::hal::commands
