// Calls a function once a fence is passed or failed.
//
// Threads: `call` may come from any thread, from within notify() when the fence is done already.
#pragma once

#include "hal/fence.hpp"

namespace baton::modules {

// A null fence has passed. The status is the first failure; it comes once, and after it nothing of `data` is touched.
void notify(const hal::Fence* fence, void (*call)(void* data, const Status& status), void* data);

}  // namespace baton::modules
