// The mathematics of samples/cuda/mixed for IREE, whose tools call no cuBLAS and no cuFFT: all of it is generated.
func.func @spectrum(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %sum = stablehlo.add %a, %b : tensor<8x8xf32>
  %product = stablehlo.dot %sum, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %pairs = stablehlo.reshape %product : (tensor<8x8xf32>) -> tensor<32x2xf32>
  %column = stablehlo.slice %pairs [0:32, 0:1] : (tensor<32x2xf32>) -> tensor<32x1xf32>
  %real = stablehlo.reshape %column : (tensor<32x1xf32>) -> tensor<32xf32>
  %none = stablehlo.constant dense<0.0> : tensor<32xf32>
  %signal = stablehlo.complex %real, %none : tensor<32xcomplex<f32>>
  %spectrum = stablehlo.fft %signal, type = FFT, length = [32] : (tensor<32xcomplex<f32>>) -> tensor<32xcomplex<f32>>
  %re = stablehlo.real %spectrum : (tensor<32xcomplex<f32>>) -> tensor<32xf32>
  %im = stablehlo.imag %spectrum : (tensor<32xcomplex<f32>>) -> tensor<32xf32>
  %re_column = stablehlo.reshape %re : (tensor<32xf32>) -> tensor<32x1xf32>
  %im_column = stablehlo.reshape %im : (tensor<32xf32>) -> tensor<32x1xf32>
  %numbers = stablehlo.concatenate %re_column, %im_column, dim = 1
      : (tensor<32x1xf32>, tensor<32x1xf32>) -> tensor<32x2xf32>
  %rows = stablehlo.reshape %numbers : (tensor<32x2xf32>) -> tensor<8x8xf32>
  %half = stablehlo.constant dense<0.5> : tensor<8x8xf32>
  %result = stablehlo.multiply %rows, %half : tensor<8x8xf32>
  return %result : tensor<8x8xf32>
}
