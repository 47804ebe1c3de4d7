"""NumPy on device memory, in place, in programs that adsm-run has started.

    adsm-run python3 program.py

    import adsm
    a = adsm.array(x)    # x of PyTorch, CuPy, Numba, ...: the same memory

NumPy is imported by the first array. docs/python.md says what is shared, and
what waits for what.
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

# Device types of DLPack.
_CUDA, _MANAGED = 2, 13
_DEVICES = (_CUDA, _MANAGED)
_HOSTS = (1, 3, 11)
# Of its type codes, those that NumPy has, with the bits that it has of them.
_KINDS = {0: ('i', (8, 16, 32, 64)), 1: ('u', (8, 16, 32, 64)),
          2: ('f', (16, 32, 64)), 5: ('c', (64, 128)), 6: ('b', (8,))}
_NAMES = {0: 'int', 1: 'uint', 2: 'float', 3: 'handle', 4: 'bfloat',
          5: 'complex', 6: 'bool'}
_READ_ONLY = 1
_MOST_DIMENSIONS = 64

# Of the driver's interface: the default stream of a context, and an attribute
# of a pointer.
_LEGACY_STREAM = 1
_POINTER_CONTEXT = 1


def array(x, dtype=None):
    """A NumPy array of the memory of `x`: a view, no copy.

    x      has __cuda_array_interface__ (version 2 or 3) or __dlpack__, or is a
           DLPack capsule, which is used up unless this raises
    dtype  what the elements are read as, of the same size in bytes: for types
           that NumPy has not, such as numpy.uint16 for bfloat16

    Shape, strides, type and whether it can be written are those of `x`, which
    is kept as long as the array or a view of it. Memory of the host needs no
    adsm-run.

    Waits for the stream that `x` names, or the default stream for __dlpack__.
    Raises ValueError where what `x` offers is malformed, TypeError where it
    offers nothing or NumPy has no such type, and RuntimeError where the memory
    cannot be used: not below adsm-run, not shared, or an error of the device.
    Thread: any.
    """
    import numpy as np
    found = _look(np, x)
    elements = _elements(np, found, dtype)
    strides = _strides(found, elements.itemsize)
    if found.device and 0 not in found.shape:
        _check_preloaded()
        _synchronise(found.stream, found.address)
        _check_shared(found.address)
    memory = _Memory(found, strides, elements.itemsize)
    view = np.asarray(memory).view(elements)
    memory.owner = found.take()
    return view


class _Memory:
    """What NumPy makes an array of: that array's base, and of all its views."""

    def __init__(self, found, strides, itemsize):
        self.__array_interface__ = {
            'version': 3, 'shape': found.shape, 'strides': strides,
            'typestr': f'|V{itemsize}',
            'data': (found.address or _NOWHERE, found.read_only)}


def _look(np, x):
    """What `x` offers, with `take` to be called when it is used."""
    if _is_capsule(x):
        return _of_capsule(np, x)
    offered = getattr(x, '__cuda_array_interface__', None)
    if offered is not None:
        return _of_interface(np, x, offered)
    if hasattr(x, '__dlpack__'):
        return _of_dlpack(np, x)
    raise TypeError(f'{type(x).__name__} has neither __cuda_array_interface__ '
                    'nor __dlpack__: it is no array of a device')


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

def _of_interface(np, x, offered):
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
        read_only=bool(read_only), device=True, take=lambda: x,
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


# DLPack

class _Tensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p),
                ('device_type', ctypes.c_int32), ('device', ctypes.c_int32),
                ('ndim', ctypes.c_int32),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8),
                ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)),
                ('strides', ctypes.POINTER(ctypes.c_int64)),
                ('byte_offset', ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [('tensor', _Tensor), ('context', ctypes.c_void_p),
                ('deleter', ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32),
                ('context', ctypes.c_void_p), ('deleter', ctypes.c_void_p),
                ('flags', ctypes.c_uint64), ('tensor', _Tensor)]


def _python(name, result, *arguments):
    """A function of Python's own, with no types in common with what others
    declare of it."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_is_valid = _python('PyCapsule_IsValid', ctypes.c_int, ctypes.py_object,
                    ctypes.c_char_p)
_pointer = _python('PyCapsule_GetPointer', ctypes.c_void_p, ctypes.py_object,
                   ctypes.c_char_p)
_rename = _python('PyCapsule_SetName', ctypes.c_int, ctypes.py_object,
                  ctypes.c_void_p)
_Deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)

# By the name of a capsule: what it points to, and its name when it is used up.
# A capsule keeps the address of its name and may outlive this module.
_FORMS = {name: (form, ctypes.create_string_buffer(b'used_' + name))
          for name, form in ((b'dltensor', _Managed),
                             (b'dltensor_versioned', _Versioned))}
for _, _used in _FORMS.values():
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_used))


class _Owner:
    """A tensor that was taken; its producer is told when it is not needed."""

    def __init__(self, managed):
        self.address = ctypes.addressof(managed)
        self.deleter = _Deleter(managed.deleter) if managed.deleter else None

    def __del__(self):
        if self.deleter:
            self.deleter(self.address)


def _is_capsule(x):
    return type(x).__name__ == 'PyCapsule'


def _of_dlpack(np, x):
    """Asked in the words of 2023 first. The default stream then waits for the
    producer's, and this module for the default stream."""
    kind, _ = x.__dlpack_device__()
    _check_kind(kind)
    words = {'stream': _LEGACY_STREAM} if kind in _DEVICES else {}
    try:
        capsule = x.__dlpack__(max_version=(1, 0), copy=False, **words)
    except TypeError:
        capsule = x.__dlpack__(**words)
    if not _is_capsule(capsule):
        raise ValueError('__dlpack__ has given no capsule')
    found = _of_capsule(np, capsule)
    if found.device:
        found.stream = _LEGACY_STREAM
    return found


def _check_kind(kind):
    if kind not in _DEVICES + _HOSTS:
        raise ValueError(f'the array is on a device of DLPack type '
                         f'{int(kind)}, which is neither CUDA nor the host')


def _of_capsule(np, capsule):
    name = next((name for name in _FORMS if _is_valid(capsule, name)), None)
    if name is None:
        raise ValueError(f'{capsule} is no DLPack tensor, or was used before')
    form, used = _FORMS[name]
    managed = form.from_address(_pointer(capsule, name))
    if form is _Versioned and managed.major != 1:
        raise ValueError(f'the capsule has version {managed.major} of DLPack; '
                         '1 is known')
    tensor = managed.tensor
    _check_kind(tensor.device_type)
    if not 0 <= tensor.ndim <= _MOST_DIMENSIONS:
        raise ValueError(f'DLPack tensor of {tensor.ndim} dimensions')
    if tensor.ndim and not tensor.shape:
        raise ValueError('DLPack tensor without a shape')
    shape = tuple(tensor.shape[:tensor.ndim])
    if min(shape, default=0) < 0:
        raise ValueError(f'DLPack tensor of shape {shape}')
    kinds = _of_code(np, tensor)
    strides = None
    if tensor.strides:
        strides = tuple(stride * kinds['itemsize']
                        for stride in tensor.strides[:tensor.ndim])

    def take():
        owner = _Owner(managed)
        _rename(capsule, ctypes.addressof(used))
        return owner

    return SimpleNamespace(
        address=(tensor.data or 0) + tensor.byte_offset, shape=shape,
        strides=strides, device=tensor.device_type in _DEVICES, stream=None,
        read_only=form is _Versioned and bool(managed.flags & _READ_ONLY),
        take=take, **kinds)


def _of_code(np, tensor):
    """dtype, itemsize and type_name of a DLPack type."""
    code, bits, lanes = tensor.code, tensor.bits, tensor.lanes
    name = f'{_NAMES.get(code, f"of DLPack code {code}, ")}{bits}'
    if lanes != 1 or bits == 0 or bits % 8:
        raise TypeError(f'elements of DLPack type {name} x {lanes} are no '
                        'whole bytes, or are vectors: NumPy has no such array')
    kind, known = _KINDS.get(code, ('', ()))
    dtype = np.dtype(f'{kind}{bits // 8}') if bits in known else None
    return {'dtype': dtype, 'itemsize': bits // 8, 'type_name': name}


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
                'that libadsm shares (docs/python.md), or was freed')
    finally:
        for end in ends:
            os.close(end)
