#include "hal/channel.hpp"

#include "hal/device.hpp"

namespace baton::hal {

Status validate(const ChannelRequest& request) {
  if (request.rank_count == 0 || request.rank >= request.rank_count) {
    return failure(StatusCode::kOutOfRange, "Channel '", request.name, "' has no rank ", request.rank, " of ",
                   request.rank_count, "; ranks are counted from 0.");
  }
  return {};
}

Status no_store(const ChannelRequest& request) {
  return failure(StatusCode::kFailedPrecondition, "There is no store where ", request.rank_count,
                 " ranks could meet; the environment names none, and the host gave none.");
}

Channel::Channel(std::string_view name, uint32_t rank, uint32_t rank_count)
    : name_(name), rank_(rank), rank_count_(rank_count) {}

Channel::~Channel() = default;

Result<Ref<Channel>> Channel::split(int32_t color, int32_t key) {
  auto part = do_split(color < 0 ? name_ : text(name_, "/", color), color, key);
  if (part.has_value()) {
    if (*part) (*part)->device_ = device_;
    return part;
  }
  return std::move(part).error().with_context(text("while rank ", rank_, " of channel '", name_, "' split it"));
}

Result<Ref<Channel>> Channel::do_split(std::string_view name, int32_t color, int32_t) {
  if (color < 0) return Ref<Channel>();
  return make_ref<Channel>(name, rank_, rank_count_);
}

}  // namespace baton::hal
