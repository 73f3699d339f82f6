extern "C" __device__ float function(float x) { return x * x + 1.0f; }
