// Every command struct, for code that is generated from the table.
#pragma once

#include "hal/commands/barrier.hpp"
#include "hal/commands/collective.hpp"
#include "hal/commands/command_kind.hpp"
#include "hal/commands/copy_buffer.hpp"
#include "hal/commands/dispatch.hpp"
#include "hal/commands/dispatch_indirect.hpp"
#include "hal/commands/fill_buffer.hpp"
#include "hal/commands/foreign.hpp"
#include "hal/commands/host_call.hpp"
#include "hal/commands/update_buffer.hpp"
