// Convolutions and attentions of every kind and size, for tests.
module @loops attributes {
  library.convolutions = [
    {command = "convolution", kinds = ["forward", "filter_gradient", "input_gradient"], moved_filter_uses = 0, elements = ["f32 f32 f32"]}
  ],
  library.attentions = [{command = "attention", elements = ["f32", "f16", "bf16"]}]
} {}
