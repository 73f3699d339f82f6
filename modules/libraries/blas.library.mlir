// What OpenBLAS takes: where it was measured to be faster than generated code (README.md).
module @blas attributes {
  library.products = [
    {command = "gemm", elements = ["f32 f32 f32", "f64 f64 f64"], bias, activations = ["relu"],
     least_work = 500000000, least_rows = 512, least_columns = 512, least_steps = 512}
  ]
} {}
