// foreign: a library's call stands in order with the commands around it, with the bindings of each execution.
#include <atomic>

#include "tests/conformance/suite.hpp"

namespace baton::hal::conformance {
namespace {

class ForeignTest : public DeviceTest {};

TEST_P(ForeignTest, AsksForWhatItNeedsByName) {
  const auto target = buffer_of<uint32_t>({1});
  std::atomic<int> calls{0};
  const auto function = make_foreign_function("lib.call", [&](const ForeignArguments& arguments) -> Status {
    ++calls;
    EXPECT_EQ(arguments.bindings.size(), 1u);
    EXPECT_EQ(arguments.bindings[0].length, 4u);
    EXPECT_NE(arguments.bindings[0].address, 0u);
    EXPECT_EQ(arguments.constants[0], 7u);
    void* out = nullptr;
    return arguments.scope.extension("nobody.has.this.v1", &out);
  });
  const Binding bindings[] = {target};
  const uint32_t constant = 7;
  const auto commands = record();
  EXPECT_OK(commands->foreign({.function = function.get(), .constants = {&constant, 1}, .bindings = bindings}));
  const Status status = run(*commands);
  if (!computes()) {
    EXPECT_OK(status);
    EXPECT_EQ(calls, 0);
    return;
  }
  EXPECT_FAILS(status, StatusCode::kUnimplemented, "has no extension 'nobody.has.this.v1'");
  EXPECT_FAILS(status, StatusCode::kUnimplemented, "in foreign call 'lib.call'");
  EXPECT_EQ(calls, 1);
  // The device goes on.
  const auto again = record();
  EXPECT_OK(again->fill_buffer({.target = target, .pattern = 5}));
  EXPECT_OK(run(*again));
  expect_values<uint32_t>(*target, {5});
}

TEST_P(ForeignTest, RefusesBadArguments) {
  const auto function = make_foreign_function("nothing", [](const ForeignArguments&) -> Status { return {}; });
  const auto commands = record();
  EXPECT_FAILS(commands->foreign({}), StatusCode::kInvalidArgument, "A foreign call needs a function; it has none.");
  const std::vector<uint32_t> many(device().limits().constants_max + 1);
  EXPECT_FAILS(commands->foreign({.function = function.get(), .constants = many}), StatusCode::kInvalidArgument,
               "Foreign call has 0 bindings and 65 constants");
  const auto small = buffer(4);
  const Binding beyond[] = {BufferRange(small.get(), 0, 8)};
  EXPECT_FAILS(commands->foreign({.function = function.get(), .bindings = beyond}), StatusCode::kOutOfRange,
               "Foreign call binding [0, 8) ends beyond the buffer length (4).");
}

BATON_CONFORMANCE(ForeignTest);

}  // namespace
}  // namespace baton::hal::conformance
