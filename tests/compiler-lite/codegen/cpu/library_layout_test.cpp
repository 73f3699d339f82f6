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
static_assert(kKernelAttributesSize == sizeof(baton_kernel_attributes));
static_assert(kLibrarySize == sizeof(baton_executable_library));

TEST(LibraryLayoutTest, AsksForTheFunctionThatTheRuntimeLooksUp) {
  EXPECT_STREQ(kQueryName, BATON_EXECUTABLE_LIBRARY_QUERY_NAME);
}

}  // namespace
}  // namespace baton::compiler_lite::codegen::cpu::layout
