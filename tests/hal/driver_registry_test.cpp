// The registry: devices by the names that people write, and sentences for the names they get wrong.
#include "hal/driver_registry.hpp"

#include "hal/drivers/register_drivers.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::hal {
namespace {

class DriverRegistryTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(drivers::register_drivers(registry_)); }
  DriverRegistry registry_;
};

TEST_F(DriverRegistryTest, OpensWhatPeopleWrite) {
  EXPECT_EQ(registry_.open("local-sync").value()->name(), "local-sync");
  EXPECT_EQ(registry_.open("local").value()->name(), "local-sync");
  EXPECT_EQ(registry_.open("local://task?workers=2").value()->query("hal.dispatch", "concurrency").value(), 2);
  EXPECT_EQ(registry_.open("null").value()->name(), "null");
}

TEST_F(DriverRegistryTest, SaysWhatThereIs) {
  EXPECT_FAILS(registry_.open("quantum-0"), StatusCode::kNotFound,
               "Device 'quantum-0' names driver 'quantum'; registered are: local, null");  // And those of devices that
                                                                                           // were found.
  EXPECT_FAILS(registry_.open("local-gpu"), StatusCode::kNotFound, "has devices 'sync' and 'task', no 'gpu'");
  EXPECT_FAILS(registry_.open("local-task?workers=0"), StatusCode::kInvalidArgument,
               "Parameter workers (0) is not a number from 1 to 256.");
  EXPECT_FAILS(registry_.open("local-sync?workers=2"), StatusCode::kInvalidArgument, "has no parameter 'workers'");
  EXPECT_FAILS(registry_.open("null?trace_format=xml"), StatusCode::kInvalidArgument,
               "has no parameter 'trace_format=xml'");
  EXPECT_FAILS(registry_.add(drivers::local::make_driver()), StatusCode::kAlreadyExists, "'local' is registered twice");
}

}  // namespace
}  // namespace baton::hal
