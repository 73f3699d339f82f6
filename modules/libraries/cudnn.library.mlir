// What cuDNN takes on CUDA devices, as measured on an H100. Of halves whose channels are innermost generated convolutions are as fast, with
// filters as JAX has them, which cuDNN would copy.
module @cudnn attributes {
  library.convolutions = [
    {command = "convolution", kinds = ["forward", "filter_gradient", "input_gradient"], least_work = 50000000, moved_filter_uses = 10000,
     elements = ["f32 f32 f32"]},
    {command = "convolution", kinds = ["forward"], least_work = 50000000, elements = ["f16 f16 f16", "bf16 bf16 bf16"]},
    {command = "convolution", kinds = ["filter_gradient", "input_gradient"], least_work = 50000000, moved_filter_uses = 10000,
     elements = ["f16 f16 f16", "bf16 bf16 bf16"]}
  ],
  library.attentions = [
    {command = "attention", elements = ["f16", "bf16"], least_rows = 64, least_work = 50000000, depth_multiple = 8, most_depth = 128}
  ]
} {}
