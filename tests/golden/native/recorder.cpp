// The native module "recorder" that the golden programs record with: a command of two verbs, one of the host, and some
// that go wrong.
#include "modules/sdk/module.hpp"

namespace {

using namespace baton::sdk;

class Recorder final : public Module<Recorder> {
 public:
  Status prepare(Device& device) {
    return prepared_++ ? failure(StatusCode::kInternal, "prepared twice for ", device.name()) : Status();
  }

  // target = number number ..., then source over its beginning
  Status fill_and_copy(CommandBuffer& rec, int32_t number, Binding<const int32_t> source, Binding<int32_t> target) {
    BATON_OR_RETURN(rec.fill(target, number));
    BATON_OR_RETURN(rec.barrier());
    return rec.copy(source, target.subspan(0, source.size()));
  }
  // Every element of `values` times `factor`, in their place.
  Status scale(CommandBuffer& rec, Binding<int32_t> values, int32_t factor) {
    const auto multiply = [factor](std::span<int32_t> all) {
      for (int32_t& value : all) value *= factor;
    };
    return rec.host(multiply, values);
  }

  // What ranks do together, as the numbers say; a rank that would send to itself is told who it is.
  Status together(CommandBuffer& rec, const Channel& channel, int32_t operation, int32_t reduction, uint32_t root,
                  uint32_t to, uint32_t from, Binding<const int32_t> source, Binding<int32_t> target) {
    if (to == channel.rank()) {
      return failure(StatusCode::kInvalidArgument, "Rank ", channel.rank(), " of ", channel.count(),
                     " sends to itself.");
    }
    return rec.collective(channel, static_cast<Collective>(operation), static_cast<Reduction>(reduction), source,
                          target, {root, to, from});
  }

  Status fail_now(CommandBuffer&) { return failure(StatusCode::kUnavailable, "Not today."); }
  Status fail_later(CommandBuffer& rec) {
    return rec.host("worrier", [] { return failure(StatusCode::kDataLoss, "The numbers are gone."); });
  }
  Status stream(CommandBuffer& rec) {
    auto stream = rec.cuda().stream();
    return stream ? Status() : std::move(stream).error();
  }

 private:
  int prepared_ = 0;
};

}  // namespace

BATON_EXPORT_MODULE(Recorder, "recorder", BATON_COMMAND("fill_and_copy", &Recorder::fill_and_copy, kCaptureSafe),
                    BATON_COMMAND("scale", &Recorder::scale, kHostOnly | kInPlace),
                    BATON_COMMAND("together", &Recorder::together), BATON_COMMAND("fail_now", &Recorder::fail_now),
                    BATON_COMMAND("fail_later", &Recorder::fail_later), BATON_COMMAND("stream", &Recorder::stream));
