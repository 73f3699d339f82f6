/* Everything a plugin written in C includes. C++ authors include modules/sdk/module.hpp. */
#ifndef BATON_MODULES_SDK_BATON_H_
#define BATON_MODULES_SDK_BATON_H_

#include "modules/sdk/cuda.h"
#include "modules/sdk/device.h"
#include "modules/sdk/host.h"
#include "modules/sdk/module.h"
#include "modules/sdk/object.h"
#include "modules/sdk/recording.h"
#include "modules/sdk/status.h"
#include "modules/sdk/value.h"
#include "modules/sdk/vulkan.h"

#endif
