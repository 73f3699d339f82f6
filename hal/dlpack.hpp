// Tensors from and for other frameworks, in place: DLPack.
//
// Memory of the host, for devices that work in it; memory of a GPU is for the driver that knows its pointers.
#pragma once

#include "hal/buffer_view.hpp"
#include "hal/device.hpp"
#include "hal/dlpack.h"

namespace baton::hal {

// Takes the tensor over: it is destroyed when the last reference to its buffer is gone. On a failure it stays the
// caller's. A tensor that is read-only gives a buffer that no command may write.
Result<Ref<BufferView>> import_dlpack(Device& device, baton_dl_managed_tensor* tensor);
Result<Ref<BufferView>> import_dlpack(Device& device, baton_dl_legacy_tensor* tensor);

// The view's memory for others; it lives until they destroy the tensor. The work that writes it must be done.
Result<baton_dl_managed_tensor*> export_dlpack(const Ref<BufferView>& view);

}  // namespace baton::hal
