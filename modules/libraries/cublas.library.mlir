// What cuBLASLt takes on CUDA devices. Doubles have no epilogue there. Of halves, generated code is faster at 32 rows, and cuBLASLt at 128.
module @cublas attributes {
  library.products = [
    {command = "gemm", bias, activations = ["relu"], least_work = 1000000, least_rows = 16, least_columns = 16, least_steps = 16,
     elements = ["f32 f32 f32"]},
    {command = "gemm", bias, activations = ["relu", "gelu"], least_work = 1000000, least_rows = 64, least_columns = 16, least_steps = 16,
     elements = ["f16 f16 f16", "bf16 bf16 bf16", "f16 f16 f32", "bf16 bf16 f32"]},
    {command = "gemm", elements = ["f64 f64 f64"], least_work = 1000000, least_rows = 16, least_columns = 16, least_steps = 16}
  ]
} {}
