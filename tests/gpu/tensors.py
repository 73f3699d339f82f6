"""A framework's tensors go through a program in place: tensors.py LIBRARY PROGRAM [DEVICE]. The program adds twice the first to
the second. On a GPU the framework is PyTorch, which is still at work on the inputs when they are handed over, and which goes on
with the result without waiting; on the CPU, plain memory. Prints "skipped: ..." where there is no PyTorch or no GPU."""
import ctypes
import sys
import time


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


class DLManagedTensor(ctypes.Structure):
    pass


Destroy = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor))
DLManagedTensor._fields_ = [("tensor", DLTensor), ("manager", ctypes.c_void_p), ("destroy", Destroy)]
Pointer = ctypes.POINTER(DLManagedTensor)


class Program:
    """LIBRARY's functions, with failures as exceptions."""

    def __init__(self, library, device, program, function):
        self.library = ctypes.CDLL(library)
        self.library.tensors_open.restype = self.library.tensors_call.restype = ctypes.c_char_p
        self.check(self.library.tensors_open(device.encode(), program.encode(), function.encode()))

    @staticmethod
    def check(message):
        if message:
            raise RuntimeError(message.decode())

    def call(self, inputs, stream):
        taken = (Pointer * len(inputs))(*inputs)
        out = Pointer()
        self.check(self.library.tensors_call(taken, len(inputs), ctypes.c_int64(stream), ctypes.byref(out)))
        return out


def plain_memory(program):
    """The CPU: memory of ours, which must be given back, and a result that is where it says."""
    count = 1000
    shape = (ctypes.c_int64 * 1)(count)
    destroyed = []
    destroy = Destroy(lambda tensor: destroyed.append(tensor.contents.tensor.data))

    def tensor(first):
        elements = (ctypes.c_float * count)(*(first + i for i in range(count)))
        made = DLManagedTensor(DLTensor(ctypes.addressof(elements), 1, 0, 1, 2, 32, 1, shape, None, 0), None, destroy)
        return elements, made

    (a, first), (b, second) = tensor(1), tensor(5)
    out = program.call([ctypes.pointer(first), ctypes.pointer(second)], -1)
    result = ctypes.cast(out.contents.tensor.data, ctypes.POINTER(ctypes.c_float))
    assert out.contents.tensor.shape[0] == count
    assert all(result[i] == 2 * a[i] + b[i] for i in range(count)), [result[i] for i in range(4)]
    out.contents.destroy(out)
    assert sorted(destroyed) == sorted([ctypes.addressof(a), ctypes.addressof(b)]), destroyed
    # What does not fit stays ours.
    third = tensor(1)[1]
    third.tensor.lanes = 4
    try:
        program.call([ctypes.pointer(third), ctypes.pointer(second)], -1)
        sys.exit("four lanes were taken")
    except RuntimeError as refused:
        assert "4 lanes" in str(refused), refused
    assert len(destroyed) == 2


def pytorch(program, torch):
    """A GPU: in and out on a stream that is at work, again and again."""
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    set_name = ctypes.pythonapi.PyCapsule_SetName
    set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    name, used = b"dltensor", b"used_dltensor"

    def blend(a, b, stream):
        capsules = [torch.utils.dlpack.to_dlpack(one) for one in (a, b)]
        pointers = [ctypes.cast(get_pointer(one, name), Pointer) for one in capsules]
        out = program.call(pointers, stream.cuda_stream)
        for capsule in capsules:
            set_name(capsule, used)
        return torch.utils.dlpack.from_dlpack(new(ctypes.addressof(out.contents), name, None))

    count = 1 << 22
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a, b = torch.zeros(count, device="cuda"), torch.zeros(count, device="cuda")
        address = a.data_ptr()
        total = torch.zeros(count, device="cuda")
        for turn in range(20):
            torch.cuda._sleep(20_000_000)  # Some ten milliseconds: who does not wait comes too early.
            a.fill_(turn)
            b.fill_(1)
            result = blend(a, b, stream)
            total += result  # On the stream, behind the program; and then the memory goes back while this may still run.
            del result
        assert a.data_ptr() == address
        stream.synchronize()
        expected = float(sum(2 * turn + 1 for turn in range(20)))
        assert torch.all(total == expected).item(), (total.min().item(), total.max().item(), expected)
        try:
            blend(a[::2], b[::2], stream)
            sys.exit("strides were taken")
        except RuntimeError as refused:
            assert "not dense" in str(refused), refused
        del a, b
        deadline = time.monotonic() + 5
        while torch.cuda.memory_allocated() > 4 * count + 4096 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert torch.cuda.memory_allocated() <= 4 * count + 4096, "tensors that came in were not given back"
    print(f"20 calls on {count} elements: {expected:g} everywhere, on {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")


def main():
    library, file, device = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "local-sync"
    if not device.startswith("cuda"):
        return plain_memory(Program(library, device, file, "blend"))
    try:
        import torch
    except ImportError:
        return print("skipped: no PyTorch")
    if not torch.cuda.is_available():
        return print("skipped: PyTorch has no CUDA device")
    torch.cuda.init()
    return pytorch(Program(library, device, file, "blend"), torch)


if __name__ == "__main__":
    main()
