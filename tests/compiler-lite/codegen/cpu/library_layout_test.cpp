// library_layout: the offsets that generated code uses are those of the structs that the runtime fills.
#include "compiler-lite/codegen/cpu/library_layout.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "hal/drivers/local/executable_library.h"

namespace baton::compiler_lite::codegen::cpu::layout {
namespace {

static_assert(kLibraryVersion == BATON_EXECUTABLE_LIBRARY_VERSION);
static_assert(kEnvironmentImportThunk == offsetof(baton_executable_environment, import_thunk));
static_assert(kEnvironmentImportFunctions == offsetof(baton_executable_environment, import_functions));
static_assert(kEnvironmentImportContexts == offsetof(baton_executable_environment, import_contexts));
static_assert(kEnvironmentProcessorData == offsetof(baton_executable_environment, processor));
static_assert(kDispatchWorkgroupCount == offsetof(baton_dispatch_state, workgroup_count_x));
static_assert(kDispatchWorkgroupSize == offsetof(baton_dispatch_state, workgroup_size_x));
static_assert(kDispatchConstants == offsetof(baton_dispatch_state, constants));
static_assert(kDispatchBindings == offsetof(baton_dispatch_state, bindings));
static_assert(kWorkgroupId == offsetof(baton_workgroup_state, id_x));
static_assert(kWorkgroupProcessorId == offsetof(baton_workgroup_state, processor_id));
static_assert(kWorkgroupLocalMemory == offsetof(baton_workgroup_state, local_memory));
static_assert(kDispatchBindingLengths == offsetof(baton_dispatch_state, binding_lengths));
static_assert(kWorkgroupLocalMemorySize == offsetof(baton_workgroup_state, local_memory_size));
static_assert(kWorkgroupFailedCheck == offsetof(baton_workgroup_state, failed_check));
static_assert(kFailedNumber == offsetof(baton_failed_check, number));
static_assert(kFailedOffset == offsetof(baton_failed_check, offset));
static_assert(kFailedSize == offsetof(baton_failed_check, size));
static_assert(kCheckedLibraryVersion == BATON_EXECUTABLE_LIBRARY_VERSION_CHECKED);
static_assert(kLibrarySize == offsetof(baton_checked_library, checks));
static_assert(kKernelAttributesSize == sizeof(baton_kernel_attributes));
static_assert(kLibrarySize == sizeof(baton_executable_library));

TEST(LibraryLayoutTest, AsksForTheFunctionThatTheRuntimeLooksUp) {
  EXPECT_STREQ(kQueryName, BATON_EXECUTABLE_LIBRARY_QUERY_NAME);
}

}  // namespace
}  // namespace baton::compiler_lite::codegen::cpu::layout
