// What can't be scheduled says what it is and where.
// RUN: baton-opt --split-input-file --verify-diagnostics --schedule %s

util.func public @missing(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<4xf32>
  // expected-error @below {{names @nowhere::@kernel, which no executable exports}}
  %0 = flow.dispatch @nowhere::@kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %out = hal.tensor.export %0 : tensor<4xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// -----

hal.executable.source private @kernels {
  hal.executable.export public @one layout(#hal.pipeline.layout<constants = 1, bindings = [#hal.pipeline.binding<storage_buffer>]>)
}
util.func public @layout(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<4xf32>
  // expected-error @below {{passes 0 words, and the layout of 'one' has 1}}
  %0 = flow.dispatch @kernels::@one(%x) : (tensor<4xf32>) -> %x
  %out = hal.tensor.export %0 : tensor<4xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// -----

hal.executable.source private @kernels {
  hal.executable.export public @one layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>]>)
}
util.func public @read_only(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<4xf32>
  // expected-error @below {{ties a result to binding 0 of 'one', which its layout calls ReadOnly}}
  %0 = flow.dispatch @kernels::@one(%x) : (tensor<4xf32>) -> %x
  %out = hal.tensor.export %0 : tensor<4xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// -----

// expected-error @below {{doesn't say how large result 0 is before it runs}}
util.func private @acme.unknown(%x: tensor<4xf32>) -> tensor<?xf32> attributes {iree.abi.streamable}
util.func public @sizes(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<4xf32>
  %r = util.call @acme.unknown(%x) : (tensor<4xf32>) -> tensor<?xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %r, %c0 : tensor<?xf32>
  %out = hal.tensor.export %r : tensor<?xf32>{%n} -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// -----

util.func public @object(%view: !hal.buffer_view) -> !hal.buffer_view {
  %x = hal.tensor.import %view : !hal.buffer_view -> tensor<4xf32>
  // expected-error @below {{The object 'nowhere.so' can't be read (No such file or directory); looked for in the working directory.}}
  %0 = hal.dispatch.extern "k"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    count(%device: !hal.device) -> (index, index, index) {
      %one = arith.constant 1 : index
      hal.return %one, %one, %one : index, index, index
    }
    layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>]>)
    objects({#hal.executable.target<"cuda", "cuda-nvptx-fb"> ordinal(0) = [#hal.executable.object<{path = "nowhere.so"}>]})
  %out = hal.tensor.export %0 : tensor<4xf32> -> !hal.buffer_view
  util.return %out : !hal.buffer_view
}

// -----

hal.executable.source private @kernels {
  // expected-error @below {{says workgroup_local_memory = -1 : index, which is no number of bytes from 0 to 2147483647}}
  hal.executable.export public @one layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>) attributes {workgroup_local_memory = -1 : index}
}

// -----

hal.executable.source private @kernels {
  // expected-error @below {{says cluster_size = [2, 1, 1, 1], which is no list of one to three integers}}
  hal.executable.export public @one layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>) attributes {cluster_size = [2, 1, 1, 1]}
}

// -----

hal.executable.source private @kernels {
  // expected-error @below {{says cooperative = 1 : i32, which is neither true nor false}}
  hal.executable.export public @one layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>) attributes {cooperative = 1 : i32}
}

// -----

hal.executable.source private @kernels {
  // expected-error @below {{says priority = "high", which is no integer}}
  hal.executable.export public @one layout(#hal.pipeline.layout<bindings = [#hal.pipeline.binding<storage_buffer>]>) attributes {priority = "high"}
}
