"""What Tensor has for people who use NumPy: written here because NumPy is imported when it is asked for."""
from baton._baton import Tensor


def _numpy_type(tensor):
    import numpy as np
    if tensor.dtype_name == "bfloat16":
        import ml_dtypes
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(tensor.dtype_name)


def numpy(self):
    """The elements as a NumPy array: in place where the host reaches them, else a copy."""
    import numpy as np
    if not self._is_in_reach:
        return np.frombuffer(self._bytes(), _numpy_type(self)).reshape(self.shape)
    if self.dtype_name == "bfloat16":  # The buffer protocol has no letter for it.
        return np.asarray(memoryview(self._bits())).view(_numpy_type(self))
    return np.asarray(memoryview(self))


def __array__(self, dtype=None, copy=None):
    array = numpy(self)
    if dtype is not None and array.dtype != dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


def item(self):
    """The only element, as a number of Python."""
    return numpy(self).item()


def tolist(self):
    return numpy(self).tolist()


def __len__(self):
    if not self.shape:
        raise TypeError("a tensor of rank 0 has no length")
    return self.shape[0]


def __getitem__(self, key):
    """Of the array that numpy() gives."""
    return numpy(self)[key]


def __iter__(self):
    return iter(numpy(self))


def __float__(self):
    return float(item(self))


def __int__(self):
    return int(item(self))


def __bool__(self):
    return bool(item(self))


for method in (numpy, __array__, item, tolist, __len__, __getitem__, __iter__, __float__, __int__, __bool__):
    setattr(Tensor, method.__name__, method)
Tensor.dtype = property(_numpy_type, doc="The element type, as NumPy and ml_dtypes have it.")
