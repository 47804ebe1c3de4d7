"""Device memory by the driver's interface alone, offered as frameworks offer
theirs: by __cuda_array_interface__ and by DLPack."""
import ctypes
import os
import time

# x[i] += by, when *gate is 1.
PTX = b"""
.version 6.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 x, .param .u32 n, .param .f32 by,
                    .param .u64 gate)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [x];
    ld.param.u32 %r1, [n];
    ld.param.f32 %f1, [by];
    ld.param.u64 %d3, [gate];
    cvta.to.global.u64 %d3, %d3;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r6, %r3, %r4, %r5;
    setp.ge.u32 %p1, %r6, %r1;
    @%p1 bra END;
AGAIN:
    ld.volatile.global.u32 %r2, [%d3];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra AGAIN;
    cvta.to.global.u64 %d1, %d1;
    mul.wide.u32 %d2, %r6, 4;
    add.u64 %d1, %d1, %d2;
    ld.global.f32 %f2, [%d1];
    add.f32 %f2, %f2, %f1;
    st.global.f32 [%d1], %f2;
END:
    ret;
}
"""


class Error(Exception):
    pass


class Device:
    """A device's primary context, current in this thread."""

    def __init__(self, number=0):
        self.driver = ctypes.CDLL('libcuda.so.1')
        self.call('cuInit', 0)
        self.context = ctypes.c_void_p()
        self.call('cuDevicePrimaryCtxRetain', ctypes.byref(self.context), number)
        self.use()
        module, self.add = ctypes.c_void_p(), ctypes.c_void_p()
        self.call('cuModuleLoadData', ctypes.byref(module), PTX)
        self.call('cuModuleGetFunction', ctypes.byref(self.add), module, b'add')
        at = ctypes.c_void_p()
        self.call('cuMemHostAlloc', ctypes.byref(at), ctypes.c_size_t(4), 2)
        self.gate = ctypes.c_uint32.from_address(at.value)
        self.gate.value = 1

    def call(self, name, *words):
        status = getattr(self.driver, name)(*words)
        if status:
            raise Error(f'{name}: {status}')

    def use(self):
        self.call('cuCtxSetCurrent', self.context)

    def alloc(self, bytes_, how='cuMemAlloc_v2', *words):
        at = ctypes.c_uint64()
        self.call(how, ctypes.byref(at), ctypes.c_size_t(bytes_), *words)
        return at.value

    def free(self, address):
        self.call('cuMemFree_v2', ctypes.c_uint64(address))

    def upload(self, address, data):
        self.call('cuMemcpyHtoD_v2', ctypes.c_uint64(address), data,
                  ctypes.c_size_t(len(data)))

    def download(self, address, bytes_):
        data = ctypes.create_string_buffer(bytes_)
        self.call('cuMemcpyDtoH_v2', data, ctypes.c_uint64(address),
                  ctypes.c_size_t(bytes_))
        return data.raw

    def stream(self):
        stream = ctypes.c_void_p()
        self.call('cuStreamCreate', ctypes.byref(stream), 1)
        return stream.value

    def close_gate(self, seconds):
        """Kernels launched from now on wait until then."""
        self.gate.value = 0
        if os.fork() == 0:
            time.sleep(seconds)
            self.gate.value = 1
            os._exit(0)

    def launch_add(self, address, count, by, stream=None):
        words = (ctypes.c_uint64(address), ctypes.c_uint32(count),
                 ctypes.c_float(by),
                 ctypes.c_uint64(ctypes.addressof(self.gate)))
        pointers = (ctypes.c_void_p * 4)(*(
            ctypes.cast(ctypes.pointer(word), ctypes.c_void_p)
            for word in words))
        self.call('cuLaunchKernel', self.add, (count + 127) // 128, 1, 1, 128,
                  1, 1, 0, ctypes.c_void_p(stream), pointers, None)


class Offer:
    """An object with a __cuda_array_interface__ of these entries."""

    def __init__(self, **entries):
        self.__cuda_array_interface__ = {'version': 3, **entries}


class Tensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('kind', ctypes.c_int),
                ('number', ctypes.c_int), ('ndim', ctypes.c_int),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8),
                ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)),
                ('strides', ctypes.POINTER(ctypes.c_int64)),
                ('byte_offset', ctypes.c_uint64)]


class Plain(ctypes.Structure):
    name = b'dltensor'
    _fields_ = [('tensor', Tensor), ('context', ctypes.c_void_p),
                ('deleter', ctypes.c_void_p)]


class Versioned(ctypes.Structure):
    name = b'dltensor_versioned'
    _fields_ = [('major', ctypes.c_uint32), ('minor', ctypes.c_uint32),
                ('context', ctypes.c_void_p), ('deleter', ctypes.c_void_p),
                ('flags', ctypes.c_uint64), ('tensor', Tensor)]


_api = ctypes.pythonapi
_End = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p,
                         ctypes.c_void_p)(('PyCapsule_New', _api))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ('PyCapsule_IsValid', _api))
_at = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ('PyCapsule_GetPointer', _api))


@_End
def _capsule_ends(capsule):
    """As the DLPack page has it: a tensor that nobody took is given up."""
    for form in Plain, Versioned:
        if _is_valid(capsule, form.name):
            at = _at(capsule, form.name)
            _End(form.from_address(at).deleter)(at)


class Tensors:
    """Capsules, and how often the deleter of each was called."""

    all = []    # a deleter is called when its maker may have gone

    def __init__(self):
        self.all.append(self)
        self.kept, self.ended = {}, []
        self.deleter = _End(self.ended.append)

    def capsule(self, address, shape, form=Plain, strides=None, kind=2, code=2,
                bits=32, lanes=1, offset=0, major=1, flags=0, deleter=True,
                **wrong):
        def numbers(values):
            return None if values is None else (ctypes.c_int64 * len(values))(
                *values)
        managed = form()
        lists = numbers(shape), numbers(strides)
        managed.tensor = Tensor(
            address, kind, 0, wrong.get('ndim', len(shape or ())), code, bits,
            lanes, *(list_ and ctypes.cast(list_, ctypes.POINTER(
                ctypes.c_int64)) for list_ in lists), offset)
        managed.deleter = ctypes.cast(self.deleter, ctypes.c_void_p).value \
            if deleter else None
        if form is Versioned:
            managed.major, managed.flags = major, flags
        at = ctypes.addressof(managed)
        self.kept[at] = managed, lists
        return _new(at, form.name, ctypes.cast(
            _capsule_ends, ctypes.c_void_p) if deleter else None)
