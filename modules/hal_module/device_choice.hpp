// Which of the host's devices a program means: "cuda[1],local,[0]" is the second device of CUDA, else the first local one,
// else the first of all. A kind is what a device's name begins with: "local" is local-sync and local-task, too.
#pragma once

#include <span>
#include <string_view>

#include "hal/device.hpp"

namespace baton::modules {

// Its index. NOT_FOUND, with all names, when none of the choices is there; `name` is what the program calls it.
Result<size_t> choose_device(std::span<const Ref<hal::Device>> devices, std::string_view name,
                             std::string_view choices);

}  // namespace baton::modules
