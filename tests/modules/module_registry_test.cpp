// Goal: built-in modules are made by name, and what is not there is answered with what is. Method: a registry of two.
#include "modules/module_registry.hpp"

#include <gtest/gtest.h>

#include "modules/sdk/module.hpp"

namespace baton::modules {
namespace {

class Empty final : public sdk::Module<Empty> {};
BATON_MODULE_QUERY(query_counter, Empty, "counter", BATON_FUNCTION("one", [] { return 1; }));
BATON_MODULE_QUERY(query_clock, Empty, "clock", );

ModuleRegistry two_modules() {
  ModuleRegistry registry;
  EXPECT_TRUE(registry.add("counter", query_counter).ok());
  EXPECT_TRUE(registry.add("clock", query_clock).ok());
  return registry;
}

TEST(ModuleRegistry, MakesModulesByName) {
  const ModuleRegistry registry = two_modules();
  auto first = registry.make("counter");
  auto second = registry.make("counter");
  ASSERT_TRUE(first.has_value()) << first.error().to_string();
  EXPECT_EQ((*first)->name(), "counter");
  EXPECT_NE(first->get(), second->get()) << "each is a module of its own";
}

TEST(ModuleRegistry, ListsItsNames) {
  const ModuleRegistry registry = two_modules();
  EXPECT_EQ(registry.names(), (std::vector<std::string_view>{"clock", "counter"}));
  EXPECT_TRUE(registry.contains("clock"));
  EXPECT_FALSE(registry.contains("cloc"));
}

TEST(ModuleRegistry, SaysWhatItDoesNotHave) {
  const ModuleRegistry registry = two_modules();
  const std::string message(registry.make("conter").error().message());
  EXPECT_EQ(message.substr(0, message.find(';')), "No module 'conter' is built in");
  EXPECT_NE(message.find("'counter'"), std::string::npos) << message;
  EXPECT_EQ(registry.make("zzzzzzzz").error().message(), "No module 'zzzzzzzz' is built in.");
}

TEST(ModuleRegistry, RefusesANameTwiceAndANameThatIsNotTheModules) {
  ModuleRegistry registry = two_modules();
  EXPECT_EQ(registry.add("clock", query_clock).message(), "Module 'clock' is registered already.");
  ASSERT_TRUE(registry.add("watch", query_clock).ok());
  EXPECT_EQ(registry.make("watch").error().message(), "The module registered as 'watch' calls itself 'clock'.");
}

}  // namespace
}  // namespace baton::modules
