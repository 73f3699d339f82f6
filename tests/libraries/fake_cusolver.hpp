// A cuSOLVER and cuBLAS without CUDA: what they enqueue is computed by LAPACK, on the host. A test gives the functions that
// enqueue and that wait for a stream, which are the fake driver's.
#pragma once

namespace baton::testing_support {

extern "C" {
using FakeSolverEnqueue = int (*)(void* stream, void (*run)(void* data), void* data);
using FakeSolverWait = int (*)(void* stream);
void fake_cusolver_set_driver(FakeSolverEnqueue enqueue, FakeSolverWait wait);
// How many handles were made; how many there are.
int fake_cusolver_made();
int fake_cusolver_alive();
}

}  // namespace baton::testing_support
