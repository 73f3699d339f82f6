// A native module without the door, for tests of the VM: functions are lambdas on NativeCall. Beside it two reference
// types: Counted knows how many of it live, Gate is waited for until someone opens it.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "vm/module.hpp"

namespace baton::vm::testing {

struct Counted : Object {
  static inline std::atomic<int> living{0};
  static const ObjectType kType;

  Counted() : Object(&kType) { ++living; }
};
inline const ObjectType Counted::kType = {.name = "test.counted", .destroy = [](Object* object) {
                                            --Counted::living;
                                            delete static_cast<Counted*>(object);
                                          }};

struct Gate : Object {
  static const ObjectType kType;

  Gate() : Object(&kType) {}

  void open(int32_t with_code = 0) {
    code = with_code;
    is_open = true;
  }
  int32_t wait(int64_t timeout_ns) {
    ++waits;
    if (!is_open && timeout_ns != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return is_open ? code.load() : kStillPending;
  }

  std::atomic<bool> is_open{false};
  std::atomic<int32_t> code{0};
  std::atomic<int> waits{0};
};
inline const ObjectType Gate::kType = {
    .name = "test.gate",
    .destroy = [](Object* object) { delete static_cast<Gate*>(object); },
    .wait = [](Object* object, int64_t timeout_ns) { return static_cast<Gate*>(object)->wait(timeout_ns); }};

class NativeTestModule final : public Module {
 public:
  explicit NativeTestModule(std::string module_name, uint32_t module_version = 0)
      : name_(std::move(module_name)), version_(module_version) {}

  void add(std::string function, std::string signature, NativeBody body, void* data = nullptr) {
    exports_.push_back({std::move(function), std::move(signature), {body, data}});
  }
  // One that may be lent its arguments without counting.
  void add_leaving(std::string function, std::string signature, NativeBody body, void* data = nullptr) {
    exports_.push_back({std::move(function), std::move(signature), {body, data, true}});
  }
  void add_type(const ObjectType* type) { types_.push_back(type); }

  std::string_view name() const override { return name_; }
  uint32_t version() const override { return version_; }
  uint32_t export_count() const override { return static_cast<uint32_t>(exports_.size()); }
  Export export_at(uint32_t index) const override { return {exports_[index].name, exports_[index].signature}; }
  std::optional<uint32_t> find_export(std::string_view function) const override {
    for (uint32_t i = 0; i < exports_.size(); ++i) {
      if (exports_[i].name == function) return i;
    }
    return std::nullopt;
  }
  std::span<const ObjectType* const> types() const override { return types_; }
  NativeFunction native_function(uint32_t index) const override { return exports_[index].function; }

  Result<void*> make_state(const Allocator& /*allocator*/) const override {
    if (state_fails) return failure(StatusCode::kUnavailable, "there is no such device");
    ++states;
    return static_cast<void*>(&states);
  }
  void destroy_state(void* /*state*/) const override { --states; }

  bool state_fails = false;
  mutable int states = 0;  // made and not destroyed; what a call's `state` points to

 private:
  struct Row {
    std::string name;
    std::string signature;
    NativeFunction function;
  };
  std::string name_;
  uint32_t version_;
  std::vector<Row> exports_;
  std::vector<const ObjectType*> types_;
};

inline void set_ref(NativeCall* call, size_t index, Object* owned) {
  release_object(std::exchange(call->refs[index], owned));
}

// "native": what the tests of references and suspension import.
inline Ref<NativeTestModule> make_native_module() {
  auto module = make_ref<NativeTestModule>("native", 2u);
  module->add_type(&Counted::kType);
  module->add_type(&Gate::kType);
  module->add("make", "v_r<test.counted>", [](NativeCall* call) -> Status::Failure* {
    set_ref(call, 0, new Counted());
    return nullptr;
  });
  module->add("add", "ii_i", [](NativeCall* call) -> Status::Failure* {
    call->values[0] = Value::of(call->values[0].i32 + call->values[1].i32);
    return nullptr;
  });
  module->add("take", "rr_v", [](NativeCall*) -> Status::Failure* { return nullptr; });
  module->add("living", "v_i", [](NativeCall* call) -> Status::Failure* {
    call->values[0] = Value::of(int32_t{Counted::living});
    return nullptr;
  });
  module->add("same", "rr_r", [](NativeCall*) -> Status::Failure* { return nullptr; });  // the first argument stays
  module->add("count", "iCrD_i", [](NativeCall* call) -> Status::Failure* {
    call->values[0] = Value::of(call->values[0].i32 + call->segments[0]);
    return nullptr;
  });
  module->add("fail", "r_v", [](NativeCall*) -> Status::Failure* {
    return failure(StatusCode::kUnavailable, "the printer is on fire").release();
  });
  // Waits for the gate in its first argument; what it was opened with is the result.
  constexpr NativeBody kPass = [](NativeCall* call) -> Status::Failure* {
    auto* gate = static_cast<Gate*>(call->refs[0]);
    if (!gate->is_open) {
      gate->retain();
      call->pending = gate;
      return nullptr;
    }
    call->values[0] = Value::of(gate->code.load());
    return nullptr;
  };
  module->add("pass", "r<test.gate>r_i", kPass);
  module->add("pass_all", "r<test.gate>CrD_i", kPass);
  // Fails although it has said what it waits for and what it returns.
  module->add("confused", "v_r<test.counted>", [](NativeCall* call) -> Status::Failure* {
    call->pending = new Counted();
    set_ref(call, 0, new Counted());
    return failure(StatusCode::kInternal, "confused").release();
  });
  return module;
}

}  // namespace baton::vm::testing
