#include "hal/commands/collective.hpp"

namespace baton::hal::commands {
namespace {

bool is_part_of(uint64_t part, uint64_t whole, uint64_t count) { return whole % count == 0 && whole / count == part; }

Status check_lengths(const Collective& command, uint64_t rank_count) {
  const uint64_t reads = command.operation == CollectiveOperation::kReduceScatter ? rank_count : 1;
  const uint64_t writes = command.operation == CollectiveOperation::kAllGather ? rank_count : 1;
  const uint64_t source = command.source.length, target = command.target.length;
  if (reads > 1 ? is_part_of(target, source, reads) : is_part_of(source, target, writes)) return {};
  return failure(StatusCode::kInvalidArgument, "Collective ", collective_name(command.operation), " over ", rank_count,
                 " ranks reads ", reads, " and writes ", writes, " equal parts; source (", source,
                 " bytes) and target (", target, ") do not fit that.");
}

Status check_numbers(const Collective& command) {
  if (static_cast<uint32_t>(command.operation) >= kCollectiveOperationCount ||
      static_cast<uint32_t>(command.reduction) >= kReductionCount) {
    return failure(StatusCode::kInvalidArgument, "A collective has operation ",
                   static_cast<uint32_t>(command.operation), " and reduction ",
                   static_cast<uint32_t>(command.reduction), "; there are ", kCollectiveOperationCount, " and ",
                   kReductionCount, ".");
  }
  if (!parse_element_type(element_type_name(command.element_type)).has_value()) {
    return failure(StatusCode::kInvalidArgument, "A collective has element type ",
                   static_cast<uint32_t>(command.element_type), ", which is none.");
  }
  return {};
}

Status check_reduction(const Collective& command) {
  if (reduces(command.operation) != (command.reduction != Reduction::kNone)) {
    return failure(StatusCode::kInvalidArgument, "Collective ", collective_name(command.operation),
                   " does not go with reduction ", reduction_name(command.reduction), ".");
  }
  const bool orders = command.reduction == Reduction::kMinimum || command.reduction == Reduction::kMaximum;
  const bool averages = command.reduction == Reduction::kAverage;
  if ((orders && element_class(command.element_type) == ElementClass::kComplex) ||
      (averages && command.element_type == ElementType::kI1)) {
    return failure(StatusCode::kInvalidArgument, "Collective ", collective_name(command.operation), ": ",
                   element_type_name(command.element_type), " has no ", reduction_name(command.reduction), ".");
  }
  return {};
}

Status check_rank(const Collective& command, std::string_view noun, uint32_t rank) {
  if (rank < command.channel->rank_count()) return {};
  return failure(StatusCode::kOutOfRange, "Collective ", noun, " (", rank, ") is not among the ",
                 command.channel->rank_count(), " ranks of the channel.");
}

// The other rank of a send or a receive, or of half a permute, which may be nobody, and its own.
Status check_peer(const Collective& command, std::string_view noun, uint32_t rank) {
  const bool permutes = command.operation == CollectiveOperation::kPermute;
  if (permutes && rank == kNoRank) return {};
  BATON_TRY(check_rank(command, noun, rank));
  if (permutes || rank != command.channel->rank()) return {};
  return failure(StatusCode::kInvalidArgument, "Collective ", collective_name(command.operation), " is between rank ",
                 rank, " and itself; a copy does that.");
}

Status check_peers(const Collective& command) {
  if (has_root(command.operation)) BATON_TRY(check_rank(command, "root", command.root));
  if (sends_to_one(command.operation)) BATON_TRY(check_peer(command, "to", command.to));
  if (receives_from_one(command.operation)) BATON_TRY(check_peer(command, "from", command.from));
  return {};
}

}  // namespace

std::string_view collective_name(CollectiveOperation operation) {
  constexpr std::string_view names[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                                        "all_to_all", "send",       "receive",        "permute"};
  static_assert(std::size(names) == kCollectiveOperationCount);
  const auto index = static_cast<uint32_t>(operation);
  return index < std::size(names) ? names[index] : "unknown";
}

std::string_view reduction_name(Reduction reduction) {
  constexpr std::string_view names[] = {"none", "sum", "product", "minimum", "maximum", "average"};
  static_assert(std::size(names) == kReductionCount);
  const auto index = static_cast<uint32_t>(reduction);
  return index < std::size(names) ? names[index] : "unknown";
}

Status validate(const Collective& command, const RecordingScope& scope) {
  if (!command.channel) return failure(StatusCode::kInvalidArgument, "A collective needs a channel; it has none.");
  if (command.channel->device() != scope.device) {
    return failure(StatusCode::kInvalidArgument, "Channel '", command.channel->name(), "' is of another device.");
  }
  BATON_TRY(check_numbers(command));
  BATON_TRY(check_reduction(command));
  BATON_TRY(check_peers(command));
  const bool sends = command.operation == CollectiveOperation::kSend;
  const bool receives = command.operation == CollectiveOperation::kReceive;
  if (!receives) BATON_TRY(check_transfer(scope, "Collective source", command.source, BufferUsage::kDispatchRead));
  if (!sends) BATON_TRY(check_transfer(scope, "Collective target", command.target, BufferUsage::kDispatchWrite));
  if (!sends && !receives) BATON_TRY(check_lengths(command, command.channel->rank_count()));
  const uint64_t parts = command.operation == CollectiveOperation::kAllToAll ? command.channel->rank_count() : 1;
  const uint32_t bytes = element_bytes(command.element_type);
  if (receives) return check_alignment("Collective target length", command.target.length, bytes);
  BATON_TRY(check_alignment("Collective source length", command.source.length, bytes * parts));
  return check_alignment("Collective target length", sends ? 0 : command.target.length, bytes);
}

}  // namespace baton::hal::commands
