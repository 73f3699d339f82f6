#include "modules/hal_module/resource.hpp"

namespace baton::modules {

Status refuse(const Resource& resource) {
  if (resource.slot < 0 || resource.slot >> hal::kSlotAccessShift > 3) {
    return failure(StatusCode::kInvalidArgument, "A resource has slot ", resource.slot,
                   "; a slot is an index below 2^32, with its access in bits 32 and 33.");
  }
  return failure(StatusCode::kOutOfRange, "A resource has offset ", resource.offset, " and length ", resource.length,
                 "; neither is below 0, but for length -1, which means up to the end.");
}

}  // namespace baton::modules
