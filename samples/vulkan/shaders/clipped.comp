// A function for programs that import it; main() is there for compilers of shaders, which want one.
#version 450

float clipped(float x, float limit) { return clamp(x, -limit, limit); }

void main() {}
