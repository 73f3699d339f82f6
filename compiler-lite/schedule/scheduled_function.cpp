#include "compiler-lite/schedule/scheduled_function.hpp"

namespace baton::compiler_lite::schedule {

using mlir::Value;

Value ScheduledFunction::device(unsigned number) {
  devices_.resize(program.devices().count());
  Value& device = devices_[number];
  if (!device) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&op.getBody().front());
    device = program.load_device(builder, op.getLoc(), number);
  }
  return device;
}

}  // namespace baton::compiler_lite::schedule
