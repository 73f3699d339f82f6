// SpirvWriter: a module of SPIR-V 1.5 in the making. Types and constants are made once each; instructions of functions
// follow each other; bytes() puts the sections in the order that the specification wants.
//
// The numbers are those of the SPIR-V specification.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::codegen::vulkan {

using Id = uint32_t;
using Ids = llvm::SmallVector<Id, 4>;

namespace spv {

enum Op : uint32_t {
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
  kTypeArray = 28,
  kTypeStruct = 30,
  kTypePointer = 32,
  kTypeFunction = 33,
  kConstantTrue = 41,
  kConstantFalse = 42,
  kConstant = 43,
  kConstantComposite = 44,
  kConstantNull = 46,
  kFunction = 54,
  kFunctionEnd = 56,
  kVariable = 59,
  kLoad = 61,
  kStore = 62,
  kAccessChain = 65,
  kDecorate = 71,
  kMemberDecorate = 72,
  kCompositeConstruct = 80,
  kCompositeExtract = 81,
  kConvertFToU = 109,
  kConvertFToS = 110,
  kConvertSToF = 111,
  kConvertUToF = 112,
  kUConvert = 113,
  kSConvert = 114,
  kFConvert = 115,
  kConvertUToPtr = 120,
  kBitcast = 124,
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
  kAtomicAnd = 240,
  kAtomicOr = 241,
  kPhi = 245,
  kLoopMerge = 246,
  kSelectionMerge = 247,
  kLabel = 248,
  kBranch = 249,
  kBranchConditional = 250,
  kSwitch = 251,
  kReturn = 253,
};

// Of GLSL.std.450.
enum Glsl : uint32_t {
  kTrunc = 3,
  kRoundEven = 2,
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
  kFloat64 = 10,
  kInt64 = 11,
  kStorageBuffer16Bit = 4433,
  kStorageBuffer8Bit = 4448,
  kVulkanMemoryModel = 5345,
  kPhysicalAddresses = 5347,
};

enum StorageClass : uint32_t {
  kInput = 1,
  kWorkgroup = 4,
  kPrivate = 6,
  kFunctionClass = 7,
  kPushConstant = 9,
  kPhysicalStorageBuffer = 5349,
};

enum Decoration : uint32_t { kBlock = 2, kBuiltIn = 11, kOffset = 35, kFpRoundingMode = 39, kNoContraction = 42 };
enum BuiltIn : uint32_t { kNumWorkgroups = 24, kWorkgroupId = 26, kLocalInvocationId = 27 };

}  // namespace spv

// Its methods are one for each section and kind of declaration of a SPIR-V module, whose ids they hand out together.
class SpirvWriter {
 public:
  Id new_id() { return bound_++; }
  void need(spv::Capability capability) { capabilities_.insert(capability); }

  Id void_type() { return type(spv::kTypeVoid, {}); }
  Id bool_type() { return type(spv::kTypeBool, {}); }
  // Of 8, 16, 32 or 64 bits; never signed. The capabilities that it wants come with it.
  Id int_type(unsigned width);
  Id float_type(unsigned width);
  Id vector_type(Id element, uint32_t count) { return type(spv::kTypeVector, {element, count}); }
  Id array_type(Id element, uint32_t count);
  Id pointer_type(spv::StorageClass storage, Id pointee) { return type(spv::kTypePointer, {storage, pointee}); }
  Id type(spv::Op op, llvm::ArrayRef<uint32_t> operands);

  Id truth(bool value) { return constant(value ? spv::kConstantTrue : spv::kConstantFalse, bool_type(), {}); }
  Id number(uint32_t value) { return constant(spv::kConstant, int_type(32), {value}); }
  Id number64(uint64_t value);
  // Bits of a float of 32 or 64.
  Id float_number(unsigned width, uint64_t bits);
  Id null(Id of_type) { return constant(spv::kConstantNull, of_type, {}); }
  Id constant(spv::Op op, Id of_type, llvm::ArrayRef<uint32_t> operands);

  // Outside of functions.
  Id variable(spv::StorageClass storage, Id pointee, Id initial = 0);
  Id built_in(spv::BuiltIn which);
  // The push constants: the address of a dispatch's record.
  Id record_variable();
  void decorate(Id id, spv::Decoration decoration, llvm::ArrayRef<uint32_t> operands = {});
  void decorate_member(Id id, uint32_t member, spv::Decoration decoration, llvm::ArrayRef<uint32_t> operands);
  void entry_point(Id function, llvm::StringRef name, llvm::ArrayRef<Id> variables, const unsigned (&sizes)[3]);
  Id glsl_set();

  // In the function that is written.
  Id op(spv::Op op, Id of_type, llvm::ArrayRef<uint32_t> operands);
  void effect(spv::Op op, llvm::ArrayRef<uint32_t> operands) { append(functions_, op, operands); }
  Id glsl(spv::Glsl which, Id of_type, llvm::ArrayRef<uint32_t> operands);
  // Where the next word will stand, and a word that is known later.
  size_t position() const { return functions_.size(); }
  void set_word(size_t position, uint32_t word) { functions_[position] = word; }

  std::vector<char> bytes() const;

 private:
  using Words = std::vector<uint32_t>;
  static void append(Words& words, spv::Op op, llvm::ArrayRef<uint32_t> operands);
  static void append_text(llvm::SmallVectorImpl<uint32_t>& words, llvm::StringRef text);

  Id bound_ = 1;
  Id glsl_ = 0, record_ = 0;
  std::set<uint32_t> capabilities_ = {spv::kShader, spv::kInt64, spv::kPhysicalAddresses};
  std::map<Words, Id> declared_;
  std::map<uint32_t, Id> built_ins_;
  Words entry_points_, modes_, decorations_, declarations_, functions_;
};

}  // namespace baton::compiler_lite::codegen::vulkan
