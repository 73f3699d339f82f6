// Tensors from and for other frameworks, in place: DLPack.
//
// A device takes and gives the memory that it works in: the host's, a GPU's, and what both reach. Where
// frameworks have streams, the consumer passes its own: the producer makes that stream wait for its work, and no thread
// of the host waits (Queue::wait_for_stream, hold_stream).
#pragma once

#include "hal/buffer_view.hpp"
#include "hal/device.hpp"
#include "hal/dlpack.h"

namespace baton::hal {

// How DLPack says an element type. False where it has none like it.
inline bool write_dlpack_type(ElementType type, baton_dl_type& out) {
  constexpr uint8_t kCodes[] = {0,  // By ElementClass; the first is none.
                                BATON_DL_INT,
                                BATON_DL_INT,
                                BATON_DL_UINT,
                                BATON_DL_FLOAT,
                                BATON_DL_BFLOAT,
                                BATON_DL_COMPLEX};
  const auto index = static_cast<size_t>(element_class(type));
  if (index == 0 || index >= sizeof(kCodes)) return false;
  const uint8_t code = type == ElementType::kI1 ? static_cast<uint8_t>(BATON_DL_BOOL) : kCodes[index];
  out = {code, static_cast<uint8_t>(element_bytes(type) * 8), 1};
  return true;
}
// The same, or UNIMPLEMENTED.
Result<baton_dl_type> dlpack_type(ElementType type);

inline constexpr int64_t kNoStream = -1;  // The contents are there already; nothing is to be ordered.

// Takes the tensor over: it is destroyed when the last reference to its buffer is gone, and the device is through with
// it. On a failure it stays the caller's. A tensor that is read-only gives a buffer that no command may write.
// `stream`: the producer's, whose work so far makes the contents; what the device does from here on comes after it.
Result<Ref<BufferView>> import_dlpack(Device& device, baton_dl_managed_tensor* tensor, int64_t stream = kNoStream);
Result<Ref<BufferView>> import_dlpack(Device& device, baton_dl_legacy_tensor* tensor, int64_t stream = kNoStream);

// The library that takes an exported tensor.
struct DlpackConsumer {
  // Its stream waits for `ready`, or without any for all that the device was given so far; what it has done with the
  // tensor when it destroys it is on this stream, which must live until then: the device comes after it. Without a
  // stream the work that writes the tensor must be done, and the consumer's when it destroys it.
  int64_t stream = kNoStream;
  std::span<const SemaphorePoint> ready = {};
};

// The view's memory, which is the device's, for others; it lives until they destroy the tensor.
Result<baton_dl_managed_tensor*> export_dlpack(Device& device, const Ref<BufferView>& view,
                                               const DlpackConsumer& consumer = {});
// The same in the form without a version, which cannot say read-only: a constant is refused.
Result<baton_dl_legacy_tensor*> export_legacy_dlpack(Device& device, const Ref<BufferView>& view,
                                                     const DlpackConsumer& consumer = {});

}  // namespace baton::hal
