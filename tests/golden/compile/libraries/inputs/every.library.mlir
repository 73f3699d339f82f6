// OpenBLAS for products of every size but the smallest: for tests, because what it is worth is another question.
module @blas attributes {
  library.products = [
    {command = "gemm", elements = ["f32 f32 f32", "f64 f64 f64"], bias, activations = ["relu"],
     least_work = 100000, least_rows = 8, least_columns = 8, least_steps = 8}
  ]
} {}
