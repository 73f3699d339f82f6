// Functions for kernels that the compiler generates: it makes SPIR-V of them, links them with its own and inlines them.
// Pointers come as addresses, indices as integers of 64 bits.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float at; };

Floats element(uint64_t base, uint64_t index) { return Floats(base + 4 * index); }

float clipped(float value, float limit) {
  if (value > limit) return limit;
  return value < -limit ? -limit : value;
}

// product[i] = a[i] * b[i] for 64 elements from `first`, or as many as there are.
void multiply_64(uint64_t a, uint64_t a_offset, uint64_t b, uint64_t b_offset, uint64_t product, uint64_t product_offset,
                 uint64_t count, uint64_t first) {
  for (uint64_t i = first; i < min(first + 64, count); ++i) {
    element(product, product_offset + i).at = element(a, a_offset + i).at * element(b, b_offset + i).at;
  }
}
