// cuBLASLt without CUDA: it keeps what it is told in its descriptions, and enqueues products of f32 and f64 that the host
// computes. A test gives the function that enqueues, which is the fake driver's.
#pragma once

namespace baton::testing_support {

extern "C" {
using FakeEnqueue = int (*)(void* stream, void (*run)(void* data), void* data);
void fake_cublaslt_set_enqueue(FakeEnqueue enqueue);
// How often an algorithm was looked for; and how many descriptions and handles there are.
int fake_cublaslt_searches();
int fake_cublaslt_alive();
}

}  // namespace baton::testing_support
