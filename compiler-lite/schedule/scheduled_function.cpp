#include "compiler-lite/schedule/scheduled_function.hpp"

namespace baton::compiler_lite {

using mlir::Value;

Value ScheduledFunction::device() {
  if (!device_) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&op.getBody().front());
    device_ = program.load_device(builder, op.getLoc());
  }
  return device_;
}

}  // namespace baton::compiler_lite
