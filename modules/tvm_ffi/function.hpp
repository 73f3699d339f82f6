// A function of a TVM-FFI library as an export of a module: called with a program's tensors where they lie, on the
// stream that the caller works on, or recorded as a command whose work stands in the program's recording.
// Threads: immutable; functions of TVM-FFI are called from whatever thread the program runs on.
#pragma once

#include <memory>
#include <string>

#include "modules/sdk/module.h"
#include "modules/tvm_ffi/function_signature.hpp"
#include "modules/tvm_ffi/runtime.hpp"
#include "modules/tvm_ffi/tensors.hpp"

namespace baton::modules::tvm_ffi {

// How a call with nothing but numbers and tensors, few, passes them and takes at most one result: what the signature says,
// in the order of the call. Made when the library is loaded.
struct PlainCallPlan {
  static constexpr size_t kArgumentsMax = 8;

  uint8_t count = 0;
  bool has_result = false;
  Kind result = Kind::kObject;
  Kind arguments[kArgumentsMax] = {};
};

struct Function {
  std::shared_ptr<const Runtime> runtime;
  std::string module;
  std::string name;
  SafeCall call = nullptr;
  Signature signature;
  std::string signature_text;
  size_t reference_count = 0;        // Of its arguments.
  PlainCallPlan plan = {};           // Of the calls that are plain.
  mutable SpareTensors spares = {};  // Of its calls.
};

// The bodies of exports whose data is a Function: any call, one that is_plain(), one of those whose tensors are
// views, and one without tensors.
baton_status* call_function(baton_call* call);
baton_status* call_with_tensors(baton_call* call);
baton_status* call_with_views(baton_call* call);
baton_status* call_with_numbers(baton_call* call);
baton_status* record_function(baton_call* call);

// "tvm_ffi.object": what functions gave and other functions take.
const baton_object_type* held_object_type();

// "a float", "an ffi.Array": for messages.
std::string describe(const Any& value);

}  // namespace baton::modules::tvm_ffi
