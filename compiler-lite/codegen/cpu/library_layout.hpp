// The bytes of hal/drivers/local/executable_library.h as generated code sees them. The compiler includes nothing of
// hal; tests/compiler-lite/codegen/cpu/library_layout_test.cpp compares the two.
#pragma once

#include <cstdint>

namespace baton::compiler_lite::codegen::cpu::layout {

inline constexpr uint32_t kLibraryVersion = 1;
inline constexpr uint32_t kCheckedLibraryVersion = 2;
inline constexpr const char* kQueryName = "baton_executable_library_query";

// baton_executable_environment
inline constexpr uint64_t kEnvironmentConstants = 0;
inline constexpr uint64_t kEnvironmentImportThunk = 8;
inline constexpr uint64_t kEnvironmentImportFunctions = 16;
inline constexpr uint64_t kEnvironmentImportContexts = 24;
inline constexpr uint64_t kEnvironmentProcessorData = 32;

// baton_dispatch_state
inline constexpr uint64_t kDispatchWorkgroupCount = 0;  // Three u32.
inline constexpr uint64_t kDispatchWorkgroupSize = 12;  // Three u32.
inline constexpr uint64_t kDispatchConstants = 32;
inline constexpr uint64_t kDispatchBindings = 40;
inline constexpr uint64_t kDispatchBindingLengths = 48;

// baton_workgroup_state
inline constexpr uint64_t kWorkgroupId = 0;  // Three u32.
inline constexpr uint64_t kWorkgroupProcessorId = 12;
inline constexpr uint64_t kWorkgroupLocalMemory = 16;
inline constexpr uint64_t kWorkgroupLocalMemorySize = 24;
inline constexpr uint64_t kWorkgroupFailedCheck = 32;

// baton_failed_check
inline constexpr uint64_t kFailedNumber = 0;
inline constexpr uint64_t kFailedOffset = 8;
inline constexpr uint64_t kFailedSize = 16;

// baton_kernel_attributes: u16 constants, u16 bindings, three u32 of the workgroup's size, u32 local memory.
inline constexpr uint64_t kKernelAttributesSize = 20;
// baton_executable_library: see cpu/library.cpp.
inline constexpr uint64_t kLibrarySize = 64;

// baton_processor.data[0] on x86_64 (hal/drivers/local/processor.hpp).
inline constexpr uint64_t kProcessorAvx2 =
    1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 9;              // avx fma f16c avx2 bmi bmi2
inline constexpr uint64_t kProcessorAvx512 = kProcessorAvx2 | 0x1Fu << 16;  // f cd bw dq vl

}  // namespace baton::compiler_lite::codegen::cpu::layout
