// How a custom command runs: the module is ready for the device, the command buffer is open for it, and closed after.
//
// Threads: as the command buffer.
#pragma once

#include "modules/device_door.hpp"

namespace baton::modules {

baton_status* run_command(baton_call* call);
void forget_devices(PreparingState& state);

extern const baton_device_table kDeviceTable;        // device_table.cpp
extern const baton_recording_table kRecordingTable;  // recording_table.cpp

}  // namespace baton::modules
