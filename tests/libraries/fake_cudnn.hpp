// cuDNN without CUDA: descriptors keep what is set, and a plan enqueues a convolution of f32, or a graph of other operations on it, that the
// host computes. Of the engines that it names one rounds, one takes nothing, and one computes; all of them know what the real ones do: convolutions
// of tensors without gaps, and attention with the logarithm of its sums. A test gives the function that enqueues, which is the fake driver's.
#pragma once

namespace baton::testing_support {

extern "C" {
using FakeCudnnEnqueue = int (*)(void* stream, void (*run)(void* data), void* data);
void fake_cudnn_set_enqueue(FakeCudnnEnqueue enqueue);
// How many descriptors and handles there are; and how often a filter was copied into another order.
int fake_cudnn_alive();
int fake_cudnn_moved();
}

}  // namespace baton::testing_support
