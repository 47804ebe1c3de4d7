"""NumPy on device memory, in place, in programs that adsm-run has started.

    adsm-run python3 program.py

    import adsm
    a = adsm.array(x)    # x of PyTorch, CuPy, Numba, ...: the same memory

NumPy is imported by the first array.
"""
import ctypes
import functools
import math
import operator
import os
import re
from types import SimpleNamespace

# What libadsm-preload.so has and no other library.
_MARK = 'adsm_hooks_list'

_TYPESTR = re.compile(r'[<>=|]([biufcmMSUV])([1-9]\d{0,8})(\[[^]]*\])?')
_HIGHEST = 1 << 63
# Of an array without elements, which may have no address.
_NOWHERE = 4096

# Of the driver's interface: an attribute of a pointer.
_POINTER_CONTEXT = 1


def array(x, dtype=None):
    """A NumPy array of the memory of `x`: a view, no copy.

    x      has __cuda_array_interface__ (version 2 or 3)
    dtype  what the elements are read as, of the same size in bytes: for types
           that NumPy has not, such as numpy.uint16 for bfloat16

    Shape, strides, type and whether it can be written are those of `x`, which
    is kept as long as the array or a view of it.

    Waits for the stream that `x` names.
    Raises ValueError where what `x` offers is malformed, TypeError where it
    offers nothing or NumPy has no such type, and RuntimeError where the memory
    cannot be used: not below adsm-run, not shared, or an error of the device.
    Thread: any.
    """
    import numpy as np
    found = _look(np, x)
    elements = _elements(np, found, dtype)
    strides = _strides(found, elements.itemsize)
    if 0 not in found.shape:
        _check_preloaded()
        _synchronise(found.stream, found.address)
        _check_shared(found.address)
    memory = _Memory(found, strides, elements.itemsize)
    view = np.asarray(memory).view(elements)
    memory.owner = x
    return view


class _Memory:
    """What NumPy makes an array of: that array's base, and of all its views."""

    def __init__(self, found, strides, itemsize):
        self.__array_interface__ = {
            'version': 3, 'shape': found.shape, 'strides': strides,
            'typestr': f'|V{itemsize}',
            'data': (found.address or _NOWHERE, found.read_only)}


def _look(np, x):
    """What `x` offers."""
    offered = getattr(x, '__cuda_array_interface__', None)
    if offered is not None:
        return _of_interface(np, offered)
    raise TypeError(f'{type(x).__name__} has no __cuda_array_interface__: it is '
                    'no array of a device')


def _elements(np, found, dtype):
    """The type of the view's elements."""
    if dtype is None:
        if found.dtype is None:
            raise TypeError(
                f'NumPy has no type {found.type_name}; say what of '
                f'{found.itemsize} bytes the elements are to be read as, such '
                'as adsm.array(x, dtype=numpy.uint16)')
        return found.dtype
    elements = np.dtype(dtype)
    if elements.itemsize != found.itemsize or elements.hasobject:
        raise TypeError(f'dtype {elements} cannot stand for elements of '
                        f'{found.itemsize} bytes')
    return elements


def _strides(found, itemsize):
    """In bytes; None: as C lays out an array. All of it must be addresses."""
    strides = found.strides
    if 0 in found.shape:
        return None
    if found.address <= 0:
        raise ValueError('an array with elements has no address')
    reaches = [stride * (count - 1)
               for stride, count in zip(strides or (), found.shape)]
    if strides is None:
        reaches = [itemsize * (math.prod(found.shape) - 1)]
    low = found.address + sum(reach for reach in reaches if reach < 0)
    high = found.address + sum(reach for reach in reaches if reach > 0)
    if low <= 0 or high + itemsize > _HIGHEST:
        raise ValueError('the array goes beyond what can be addressed')
    return strides


# __cuda_array_interface__

def _of_interface(np, offered):
    try:
        version = offered['version']
        shape = tuple(operator.index(count) for count in offered['shape'])
        address, read_only = offered['data']
        address = operator.index(address)
        strides = offered.get('strides')
        if strides is not None:
            strides = tuple(operator.index(stride) for stride in strides)
        stream = offered.get('stream')
        if stream is not None:
            stream = operator.index(stream)
        typestr = str(offered['typestr'])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _malformed(f'{type(error).__name__}: {error}') from error
    if version not in (2, 3):
        raise _malformed(f'version {version!r}; 2 and 3 are known')
    if min(shape, default=0) < 0:
        raise _malformed(f'shape {shape}')
    if strides is not None and len(strides) != len(shape):
        raise _malformed(f'{len(strides)} strides for {len(shape)} dimensions')
    if stream is not None and not 0 < stream < _HIGHEST:
        raise _malformed(f'stream {stream}')
    if offered.get('mask') is not None:
        raise _malformed('arrays with a mask are not known')
    return SimpleNamespace(
        address=address, shape=shape, strides=strides, stream=stream,
        read_only=bool(read_only),
        **_of_typestr(np, typestr, offered.get('descr')))


def _malformed(what):
    return ValueError(f'__cuda_array_interface__ is malformed: {what}')


def _of_typestr(np, typestr, descr):
    """dtype, itemsize and type_name. Bytes without fields are what producers
    name types by that NumPy has not."""
    match = _TYPESTR.fullmatch(typestr)
    if not match:
        raise _malformed(f'typestr {typestr!r}')
    try:
        fields = match[1] == 'V' and descr and [*descr] != [('', typestr)]
        dtype = np.dtype(typestr)
        if fields:
            dtype = np.lib.format.descr_to_dtype(descr)
    except (TypeError, ValueError, IndexError) as error:
        raise _malformed(f'{error}') from error
    itemsize = np.dtype(typestr).itemsize
    if dtype.itemsize != itemsize or dtype.hasobject:
        raise _malformed(f'descr {descr!r} is not of type {typestr!r}')
    return {'dtype': dtype if fields or match[1] != 'V' else None,
            'itemsize': itemsize, 'type_name': typestr}


# What the memory is

@functools.cache
def _library(name):
    """None: whatever the program is linked with, what is preloaded first."""
    return ctypes.CDLL(name, use_errno=True)


def _check_preloaded():
    if not hasattr(_library(None), _MARK):
        raise RuntimeError('the CPU can use device memory only below adsm-run: '
                           'start the program as `adsm-run python3 ...`')


def _synchronise(stream, address):
    """The default stream is that of the memory's context, whichever is current
    in this thread."""
    if stream is None:
        return
    driver = _library('libcuda.so.1')
    context = ctypes.c_void_p()
    pushed = (driver.cuPointerGetAttribute(
        ctypes.byref(context), _POINTER_CONTEXT,
        ctypes.c_uint64(address)) == 0 and context.value
        and driver.cuCtxPushCurrent_v2(context) == 0)
    status = driver.cuStreamSynchronize(ctypes.c_void_p(stream))
    if pushed:
        driver.cuCtxPopCurrent_v2(ctypes.byref(context))
    if status:
        raise RuntimeError(f'waiting for stream {stream:#x} of the array has '
                           f'failed: CUDA error {status}')


def _check_shared(address):
    """Give one byte to a system call, which fails where an access would be
    SIGSEGV."""
    ends = os.pipe()
    try:
        if _library(None).write(ends[1], ctypes.c_void_p(address),
                                ctypes.c_size_t(1)) != 1:
            raise RuntimeError(
                f'the memory at {address:#x} cannot be used by the CPU '
                f'({os.strerror(ctypes.get_errno())}): it is not of a kind '
                'that libadsm shares (docs/preload.md), or was freed')
    finally:
        for end in ends:
            os.close(end)
