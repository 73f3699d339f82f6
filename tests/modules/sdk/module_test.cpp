// Goal: a class becomes a module with parameters and one state per context. Method: its query function is asked as a
// host would, its state made and its functions called.
#include "modules/sdk/module.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "modules/host_table.hpp"
#include "tests/modules/sdk/string_object.hpp"

namespace baton::sdk {
namespace {

int counters_alive = 0;

class Counter final : public Module<Counter> {
 public:
  static constexpr uint32_t kVersion = 3;

  static Result<std::unique_ptr<Counter>> make(const Parameters& parameters) {
    if (parameters.find("refuse")) return failure(StatusCode::kUnavailable, "No counter today.");
#if defined(__cpp_exceptions)
    if (parameters.find("throw")) throw std::runtime_error("no luck");
#endif
    auto counter = std::make_unique<Counter>();
    counter->total_ = std::stoi(std::string(parameters.find("start").value_or("0")));
    return counter;
  }
  Counter() { ++counters_alive; }
  ~Counter() { --counters_alive; }

  int32_t add(int32_t amount) { return total_ += amount; }

 private:
  int32_t total_ = 0;
};

BATON_MODULE_QUERY(query_counter, Counter, "counter", BATON_FUNCTION("add", &Counter::add),
                   BATON_FUNCTION("twice", [](int32_t a) { return a * 2; }), BATON_TYPE(StringObject));

// The module as a host holds it.
class Described {
 public:
  explicit Described(std::initializer_list<baton_parameter> parameters = {}) {
    EXPECT_EQ(query_counter(&modules::host_table(), parameters.size(), parameters.begin(), &descriptor), nullptr);
  }
  ~Described() { descriptor->destroy(descriptor->self); }
  Status make_state(void** out_state) {
    return Status::adopt(descriptor->create_state(descriptor->self, modules::host_table().allocator, out_state));
  }
  const baton_module_descriptor* descriptor = nullptr;
};

baton_string text_of(std::string_view text) { return {text.data(), text.size()}; }

TEST(Module, DescribesItself) {
  const Described module;
  EXPECT_STREQ(module.descriptor->name, "counter");
  EXPECT_EQ(module.descriptor->version, 3u);
  ASSERT_EQ(module.descriptor->export_count, 2u);
  EXPECT_STREQ(module.descriptor->exports[0].name, "add");
  EXPECT_STREQ(module.descriptor->exports[1].signature, "i_i");
  ASSERT_EQ(module.descriptor->type_count, 1u);
  EXPECT_EQ(module.descriptor->types[0], StringObject::object_type());
}

TEST(Module, KeepsOneStatePerContext) {
  Described module({{text_of("start"), text_of("100")}});
  void* states[2] = {};
  for (void*& state : states) ASSERT_TRUE(module.make_state(&state).ok());
  EXPECT_EQ(counters_alive, 2);
  baton_value slot = baton_value_of_i32(5);
  baton_call call = {.state = states[0],
                     .data = nullptr,
                     .values = &slot,
                     .refs = nullptr,
                     .segments = nullptr,
                     .pending = nullptr,
                     .resumed = nullptr};
  ASSERT_EQ(module.descriptor->exports[0].body(&call), nullptr);
  EXPECT_EQ(slot.i32, 105);
  call.state = states[1];
  slot = baton_value_of_i32(1);
  ASSERT_EQ(module.descriptor->exports[0].body(&call), nullptr);
  EXPECT_EQ(slot.i32, 101) << "the other context's counter was not touched";
  for (void* state : states) module.descriptor->destroy_state(module.descriptor->self, state);
  EXPECT_EQ(counters_alive, 0);
}

TEST(Module, FailsToMakeItsStateWithAReason) {
  Described module({{text_of("refuse"), text_of("")}});
  void* state = nullptr;
  EXPECT_EQ(module.make_state(&state).message(), "No counter today.");
}

TEST(Module, RefusesParametersThatItDidNotAskFor) {
  void* state = nullptr;
  Described misspelled(
      {{text_of("start"), text_of("1")}, {text_of("strat"), text_of("2")}, {text_of("x"), text_of("")}});
  EXPECT_EQ(misspelled.make_state(&state).message(), "Module 'counter' has no parameter 'strat', 'x'.");
  EXPECT_EQ(counters_alive, 0);
  Described twice({{text_of("start"), text_of("1")}, {text_of("start"), text_of("2")}});  // The last one counts.
  ASSERT_TRUE(twice.make_state(&state).ok());
  twice.descriptor->destroy_state(twice.descriptor->self, state);
}

#if defined(__cpp_exceptions)
TEST(Module, TurnsAThrowWhileMakingItsStateIntoAFailure) {
  Described module({{text_of("throw"), text_of("")}});
  void* state = nullptr;
  EXPECT_EQ(module.make_state(&state).message(), "Module 'counter' threw: no luck");
}
#endif

TEST(Module, GivesNothingToAHostOfAnotherVersion) {
  baton_host old_host = modules::host_table();
  old_host.struct_size = 8;
  const baton_module_descriptor* descriptor = nullptr;
  EXPECT_EQ(query_counter(&old_host, 0, nullptr, &descriptor), nullptr);
  EXPECT_EQ(descriptor, nullptr);
}

TEST(Parameters, TheLastOneOfAKeyCounts) {
  const baton_parameter given[] = {
      {text_of("a"), text_of("1")}, {text_of("b"), text_of("2")}, {text_of("a"), text_of("3")}};
  const Parameters parameters(given, 3);
  EXPECT_EQ(parameters.find("a"), "3");
  EXPECT_EQ(parameters.find("c"), std::nullopt);
  EXPECT_EQ(parameters.unknown(), "'b'");
  EXPECT_EQ(parameters.all().size(), 3u);
  EXPECT_EQ(parameters.unknown(), "");
}

}  // namespace
}  // namespace baton::sdk
