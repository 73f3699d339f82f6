func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %made = call @anybody(%x) : (tensor<5xf32>) -> tensor<5xf32>
  return %made : tensor<5xf32>
}

func.func private @anybody(%x: tensor<5xf32>) -> tensor<5xf32> attributes {baton.on_cores = @kernel} {
  return %x : tensor<5xf32>
}

func.func private @kernel(%x: tensor<5xf32>) -> tensor<5xf32> attributes {baton.one_kernel} {
  %one = arith.constant 1 : index
  %count = arith.constant 5 : index
  %memory = tensor.empty() : tensor<5xf32>
  %all = scf.for %i = %one to %count step %one iter_args(%a = %memory) -> tensor<5xf32> {
    %number = tensor.extract %x[%i] : tensor<5xf32>
    %c = tensor.insert %number into %a[%i] : tensor<5xf32>
    scf.yield %c : tensor<5xf32>
  } {baton.workgroups = 2 : i64}
  return %all : tensor<5xf32>
}
