func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %same = call @anywhere(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %same : tensor<?xf32>
}
func.func private @anywhere(%x: tensor<?xf32>) -> tensor<?xf32> attributes {baton.on_cores = @on_cores} {
  return %x : tensor<?xf32>
}
func.func private @on_cores(%x: tensor<?xf32>) -> tensor<?xf32> attributes {baton.one_kernel} {
  return %x : tensor<?xf32>
}
