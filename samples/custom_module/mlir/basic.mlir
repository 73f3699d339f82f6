// Makes, measures and prints strings of a type that the module `custom` provides. Debug builds of that module can print for
// debugging too; elsewhere the import is missing and its fallback in here runs.
module @example {
  func.func private @custom.string.create(!util.buffer) -> !custom.string
  // The module counts in i64, whatever the compiler takes for an index.
  func.func private @custom.string.length(!custom.string) -> index
      attributes {vm.signature = (!vm.ref<!custom.string>) -> i64}
  func.func private @custom.string.print(!custom.string)
  func.func private @custom.string.dprint(!custom.string) attributes {vm.fallback = @print_optimized}

  func.func private @print_optimized(%unused: !custom.string) {
    %text = util.buffer.constant : !util.buffer = "optimized"
    %string = call @custom.string.create(%text) : (!util.buffer) -> !custom.string
    call @custom.string.print(%string) : (!custom.string) -> ()
    return
  }

  func.func @main() {
    %hello = util.buffer.constant : !util.buffer = "hello"
    %string = call @custom.string.create(%hello) : (!util.buffer) -> !custom.string
    call @custom.string.print(%string) : (!custom.string) -> ()
    %length = call @custom.string.length(%string) : (!custom.string) -> index
    util.optimization_barrier %length : index
    %debug = util.buffer.constant : !util.buffer = "debug"
    %other = call @custom.string.create(%debug) : (!util.buffer) -> !custom.string
    call @custom.string.dprint(%other) : (!custom.string) -> ()
    return
  }
}
