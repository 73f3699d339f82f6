// What is written over may be a constant: of one element it is a fill, and any other is copied to the result's memory, of which there
// is more than a workgroup's.
// RUN: baton-compile %s -o %t.bvm
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=splat --input=2x1x32xi32=7 --output=@%t.npy
// RUN: %{python} -c "import sys; sys.exit(open(r'%t.npy', 'rb').read()[128:].count(bytes([7, 0, 0, 0])) != 64)"
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=one --input=5 --input=79999 --output=@%t.npy
// RUN: %{python} -c "import sys; sys.exit(open(r'%t.npy', 'rb').read()[-8:] != bytes([3, 0, 0, 0, 5, 0, 0, 0]))"
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=flags --input=4xi1=0 --output=@%t.npy
// RUN: %{python} -c "import sys; sys.exit(open(r'%t.npy', 'rb').read()[128:].count(0) != 4)"
// RUN: baton-run-module --module=%t.bvm --device=local-sync --function=summed --input=400x300xf32=2 --output=@%t.npy
// RUN: baton-compile --target-device=cuda %s -o %t.cuda.bvm
func.func @splat(%a: tensor<2x1x32xi32>) -> tensor<17x7x1000xi32> {
  %c = arith.constant dense<3> : tensor<17x7x1000xi32>
  %r = tensor.insert_slice %a into %c[1, 6, 968] [2, 1, 32] [3, 1, 1] : tensor<2x1x32xi32> into tensor<17x7x1000xi32>
  return %r : tensor<17x7x1000xi32>
}
func.func @summed(%a: tensor<400x300xf32>) -> tensor<400x300xf32> {
  %c = arith.constant dense<1.5> : tensor<400x300xf32>
  %r = linalg.add ins(%a, %a : tensor<400x300xf32>, tensor<400x300xf32>) outs(%c : tensor<400x300xf32>) -> tensor<400x300xf32>
  return %r : tensor<400x300xf32>
}
func.func @accumulated(%a: tensor<40x300xf32>, %b: tensor<300x2000xf32>) -> tensor<40x2000xf32> {
  %c = arith.constant dense<1.5> : tensor<40x2000xf32>
  %r = linalg.matmul ins(%a, %b : tensor<40x300xf32>, tensor<300x2000xf32>) outs(%c : tensor<40x2000xf32>) -> tensor<40x2000xf32>
  return %r : tensor<40x2000xf32>
}
func.func @one(%a: i32, %i: index) -> tensor<80000xi32> {
  %c = arith.constant dense<3> : tensor<80000xi32>
  %r = tensor.insert %a into %c[%i] : tensor<80000xi32>
  return %r : tensor<80000xi32>
}
func.func @flags(%a: tensor<4xi1>) -> tensor<700000xi1> {
  %c = arith.constant dense<true> : tensor<700000xi1>
  %r = tensor.insert_slice %a into %c[7] [4] [100] : tensor<4xi1> into tensor<700000xi1>
  return %r : tensor<700000xi1>
}
