// transfer: copies bytes of one device's buffer into another device's, in the order of semaphores.
//
// Where one of the two reaches the other's memory, its queue copies; else the bytes go through memory of the host, in
// up to three steps: out of the source, over, into the target. Memory that the host cannot see goes through a staging buffer.
#pragma once

#include "hal/queue.hpp"

namespace baton::hal {

struct Transfer {
  Device& source_device;
  BufferRange source;
  Device& target_device;
  BufferRange target;
};

// On one device it is a copy. Bad arguments are a status, and nothing is enqueued then; work that fails later fails the
// signals.
Status transfer(const Order& order, const Transfer& transfer);

// Whether a buffer lies where the device has it: then the device may use it as it is.
bool is_of_device(const Device& device, const Buffer& buffer);

}  // namespace baton::hal
