// Half the spectrum of (a + b) * b, its rows as one complex signal without its imaginary parts: a kernel of the compiler,
// a matrix product of cuBLAS, a kernel from PTX, a transform of cuFFT, and a kernel of the compiler again. One recording;
// on CUDA one graph.
module @mixed {
  util.func private @libraries.gemm(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32>
      attributes {iree.abi.streamable}
  util.func private @libraries.keep_real(%x: tensor<8x8xf32>) -> %x attributes {iree.abi.streamable}
  util.func private @libraries.fft(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {iree.abi.streamable}

  util.func public @spectrum(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %sum = arith.addf %a, %b : tensor<8x8xf32>
    %product = util.call @libraries.gemm(%sum, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %signal = util.call @libraries.keep_real(%product) : (tensor<8x8xf32>) -> %product
    %spectrum = util.call @libraries.fft(%signal) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %half = arith.constant dense<0.5> : tensor<8x8xf32>
    %zero = arith.constant dense<0.0> : tensor<8x8xf32>
    %halved = arith.mulf %spectrum, %half : tensor<8x8xf32>
    %result = arith.addf %halved, %zero : tensor<8x8xf32>
    util.return %result : tensor<8x8xf32>
  }
}
