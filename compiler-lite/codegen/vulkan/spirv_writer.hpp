// SpirvWriter: a module of SPIR-V 1.5 in the making. Types and constants are made once each; instructions of functions
// follow each other; bytes() puts the sections in the order that the specification wants.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hal/interface/spirv.hpp"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::codegen::vulkan {

using Id = uint32_t;
using Ids = llvm::SmallVector<Id, 4>;

namespace spv = hal::spirv;

// Its methods are one for each section and kind of declaration of a SPIR-V module, whose ids they hand out together.
class SpirvWriter {
 public:
  Id new_id() { return bound_++; }
  void need(spv::Capability capability) { capabilities_.insert(capability); }
  bool needs(spv::Capability capability) const { return capabilities_.count(capability) != 0; }

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
  // A number of three axes, or where `is_scalar` of one.
  Id built_in(spv::BuiltIn which, bool is_scalar = false);
  // The push constants: the address of a dispatch's record.
  Id record_variable();
  void decorate(Id id, spv::Decoration decoration, llvm::ArrayRef<uint32_t> operands = {});
  void decorate_member(Id id, uint32_t member, spv::Decoration decoration, llvm::ArrayRef<uint32_t> operands);
  void entry_point(Id function, llvm::StringRef name, llvm::ArrayRef<Id> variables, const unsigned (&sizes)[3]);
  // A word about the module for whoever loads it.
  void note(llvm::StringRef text);
  // The function, of which there is only a declaration, is that of another module.
  void import(Id function, llvm::StringRef name);
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
  Words entry_points_, modes_, notes_, decorations_, declarations_, functions_;
};

}  // namespace baton::compiler_lite::codegen::vulkan
