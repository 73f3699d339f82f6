// Numbers of the SPIR-V specification: the compiler writes them, drivers read them.
#pragma once

#include <cstdint>

namespace baton::hal::spirv {

inline constexpr uint32_t kMagic = 0x07230203;
inline constexpr uint32_t kHeaderWords = 5;

// "baton.folds_grid <name>" in kModuleProcessed: that kernel takes a grid that is one long row in any shape of at least as
// many workgroups. It numbers them by itself, and those from the row's length on, which its record ends with, do nothing.
inline constexpr char kFoldsGrid[] = "baton.folds_grid ";

// "baton.hands_over <name>": threads of that kernel hand each other what they hold, in groups of eight. It numbers its threads
// by their places in subgroups, so these must be whole.
inline constexpr char kHandsOver[] = "baton.hands_over ";
// The format of code with such kernels. Devices take it whose subgroups have so many threads.
inline constexpr char kHandingFormat[] = "vulkan-spirv-subgroup8";
inline constexpr uint32_t kHandingThreads = 8, kHandingThreadsMax = 64;

// A function that is linked when the code is loaded is a declaration with linkage, imported under its name. Behind this, one
// that may be missing: it is called only where the answer to its question is yes,
inline constexpr char kOptionalImport[] = "baton.optional ";
// and its question: an imported function that takes nothing and gives a bool.
inline constexpr char kIsThere[] = "baton.is_there ";

enum Op : uint32_t {
  kName = 5,
  kMemberName = 6,
  kExtension = 10,
  kExtInstImport = 11,
  kExtInst = 12,
  kMemoryModel = 14,
  kEntryPoint = 15,
  kExecutionMode = 16,
  kCapability = 17,
  kTypeVoid = 19,
  kTypeBool = 20,
  kTypeInt = 21,
  kTypeFloat = 22,
  kTypeVector = 23,
  kTypeMatrix = 24,
  kTypeArray = 28,
  kTypeRuntimeArray = 29,
  kTypeStruct = 30,
  kTypePointer = 32,
  kTypeFunction = 33,
  kTypeForwardPointer = 39,
  kConstantTrue = 41,
  kConstantFalse = 42,
  kConstant = 43,
  kConstantComposite = 44,
  kConstantNull = 46,
  kSpecConstantTrue = 48,
  kSpecConstantFalse = 49,
  kSpecConstant = 50,
  kSpecConstantComposite = 51,
  kSpecConstantOp = 52,
  kFunction = 54,
  kFunctionParameter = 55,
  kFunctionEnd = 56,
  kFunctionCall = 57,
  kVariable = 59,
  kLoad = 61,
  kStore = 62,
  kCopyMemory = 63,
  kAccessChain = 65,
  kInBoundsAccessChain = 66,
  kPtrAccessChain = 67,
  kArrayLength = 68,
  kInBoundsPtrAccessChain = 70,
  kDecorate = 71,
  kMemberDecorate = 72,
  kDecorationGroup = 73,
  kGroupDecorate = 74,
  kGroupMemberDecorate = 75,
  kVectorShuffle = 79,
  kCompositeConstruct = 80,
  kCompositeExtract = 81,
  kCompositeInsert = 82,
  kCopyObject = 83,
  kConvertFToU = 109,
  kConvertFToS = 110,
  kConvertSToF = 111,
  kConvertUToF = 112,
  kUConvert = 113,
  kSConvert = 114,
  kFConvert = 115,
  kConvertUToPtr = 120,
  kBitcast = 124,
  kSNegate = 126,
  kFNegate = 127,
  kIAdd = 128,
  kFAdd = 129,
  kISub = 130,
  kFSub = 131,
  kIMul = 132,
  kFMul = 133,
  kUDiv = 134,
  kSDiv = 135,
  kFDiv = 136,
  kUMod = 137,
  kSRem = 138,
  kSMod = 139,
  kUMulExtended = 151,
  kIsNan = 156,
  kLogicalEqual = 164,
  kLogicalNotEqual = 165,
  kLogicalOr = 166,
  kLogicalAnd = 167,
  kLogicalNot = 168,
  kSelect = 169,
  kIEqual = 170,
  kINotEqual = 171,
  kUGreaterThan = 172,
  kSGreaterThan = 173,
  kUGreaterThanEqual = 174,
  kSGreaterThanEqual = 175,
  kULessThan = 176,
  kSLessThan = 177,
  kULessThanEqual = 178,
  kSLessThanEqual = 179,
  kFOrdEqual = 180,
  kFUnordEqual = 181,
  kFOrdNotEqual = 182,
  kFUnordNotEqual = 183,
  kFOrdLessThan = 184,
  kFUnordLessThan = 185,
  kFOrdGreaterThan = 186,
  kFUnordGreaterThan = 187,
  kFOrdLessThanEqual = 188,
  kFUnordLessThanEqual = 189,
  kFOrdGreaterThanEqual = 190,
  kFUnordGreaterThanEqual = 191,
  kShiftRightLogical = 194,
  kShiftRightArithmetic = 195,
  kShiftLeftLogical = 196,
  kBitwiseOr = 197,
  kBitwiseXor = 198,
  kBitwiseAnd = 199,
  kNot = 200,
  kBitReverse = 204,
  kBitCount = 205,
  kControlBarrier = 224,
  kAtomicLoad = 227,
  kAtomicStore = 228,
  kAtomicCompareExchange = 230,
  kAtomicAnd = 240,
  kAtomicOr = 241,
  kAtomicXor = 242,
  kPhi = 245,
  kLoopMerge = 246,
  kSelectionMerge = 247,
  kLabel = 248,
  kBranch = 249,
  kBranchConditional = 250,
  kSwitch = 251,
  kReturn = 253,
  kReturnValue = 254,
  kExecutionModeId = 331,
  kModuleProcessed = 330,
  kDecorateId = 332,
  kGroupNonUniformShuffleXor = 346,
  kPtrEqual = 401,
  kPtrDiff = 403,
  kDecorateString = 5632,
};

// Of GLSL.std.450.
enum Glsl : uint32_t {
  kRoundEven = 2,
  kTrunc = 3,
  kFAbs = 4,
  kFloor = 8,
  kCeil = 9,
  kSqrt = 31,
  kFma = 50,
  kUnpackHalf = 62,
  kFindILsb = 73,
  kFindUMsb = 75,
};

enum Capability : uint32_t {
  kShader = 1,
  kLinkage = 5,
  kFloat64 = 10,
  kInt64 = 11,
  kGroupNonUniform = 61,
  kGroupNonUniformShuffle = 65,
  kStorageBuffer16Bit = 4433,
  kStorageBuffer8Bit = 4448,
  kVulkanMemoryModel = 5345,
  kPhysicalAddresses = 5347,
};

enum StorageClass : uint32_t {
  kUniformConstant = 0,
  kInput = 1,
  kUniform = 2,
  kWorkgroup = 4,
  kPrivate = 6,
  kFunctionClass = 7,
  kPushConstant = 9,
  kStorageBuffer = 12,
  kPhysicalStorageBuffer = 5349,
};

enum Decoration : uint32_t {
  kSpecId = 1,
  kBlock = 2,
  kBufferBlock = 3,
  kArrayStride = 6,
  kMatrixStride = 7,
  kBuiltIn = 11,
  kBinding = 33,
  kDescriptorSet = 34,
  kOffset = 35,
  kFpRoundingMode = 39,
  kLinkageAttributes = 41,
  kNoContraction = 42,
};

enum BuiltIn : uint32_t {
  kNumWorkgroups = 24,
  kWorkgroupSize = 25,
  kWorkgroupId = 26,
  kLocalInvocationId = 27,
  kSubgroupSize = 36,
  kSubgroupId = 40,
  kSubgroupInvocationId = 41,
};

// Of an entry point, and of its mode.
inline constexpr uint32_t kGlCompute = 5;
inline constexpr uint32_t kModeLocalSize = 17;
inline constexpr uint32_t kModeLocalSizeId = 38;
inline constexpr uint32_t kModeDenormPreserve = 4459;
inline constexpr uint32_t kModeDenormFlushToZero = 4460;
inline constexpr uint32_t kModeSignedZeroInfNanPreserve = 4461;
inline constexpr uint32_t kModeRoundingModeRte = 4462;
inline constexpr uint32_t kModeRoundingModeRtz = 4463;

// Of linkage.
inline constexpr uint32_t kExport = 0;
inline constexpr uint32_t kImport = 1;

}  // namespace baton::hal::spirv
