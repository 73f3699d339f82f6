// Executable: device code that commands written in Python dispatch.
// Threads: immutable.
#pragma once

#include "modules/sdk/device.h"
#include "python/extension/devices.hpp"
#include "python/extension/values.hpp"

namespace baton::python {

struct Executable {
  OwnedObject object;
  baton_executable* handle() const { return reinterpret_cast<baton_executable*>(object.get()); }
};

// `variants`: {format: bytes}. `entry_points`: None, or [(name, (x, y, z))] for code that does not say its workgroups.
Executable make_executable(const Device& device, nb::dict variants, nb::handle entry_points, const std::string& name,
                           nb::handle constants);
// By name or by index.
uint32_t entry_point_of(const Executable& executable, nb::handle name);

void bind_executables(nb::module_& module);

}  // namespace baton::python
