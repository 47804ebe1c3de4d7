#!/usr/bin/env python3
"""adsm.array on the software device, below adsm-run.

test_array.py
"""
import ctypes
import faulthandler
import gc
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402
from device import (Device, Offer, Plain, Tensors, Versioned)  # noqa: E402

try:
    import numpy as np
except ImportError:
    print(f'SKIP: {sys.executable} has no NumPy (python3-numpy)')
    sys.exit(77)
import adsm  # noqa: E402

COUNT = 1 << 16
WHILE_S = 0.2
FLOATS = np.arange(COUNT, dtype=np.float32)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = Device()

    def setUp(self):
        """The device has the numbers from 0 on."""
        self.device.use()
        self.at = self.device.alloc(FLOATS.nbytes)
        self.addCleanup(self.device.free, self.at)
        self.device.upload(self.at, FLOATS.tobytes())

    def offer(self, shape=(COUNT,), typestr='<f4', read_only=False, at=None,
              **entries):
        return Offer(shape=shape, typestr=typestr,
                     data=(self.at if at is None else at, read_only), **entries)

    def other(self):
        """Memory that no kernel uses: an access to it waits for none."""
        at = self.device.alloc(64)
        self.addCleanup(self.device.free, at)
        return at

    def device_has(self, index):
        data = self.device.download(self.at + 4 * index, 4)
        return struct.unpack('f', data)[0]

    def launch_slow(self, stream=None):
        """Add 1 on this stream, in a while."""
        self.device.close_gate(WHILE_S)
        self.device.launch_add(self.at, COUNT, 1, stream)
        self.assertFalse(self.has_ended(stream), 'nothing is left to wait for')

    def has_ended(self, stream=None):
        return self.device.driver.cuStreamQuery(ctypes.c_void_p(stream)) == 0


class InPlace(Case):
    def test_view_is_the_devices_memory(self):
        view = adsm.array(self.offer())
        self.assertEqual(view.ctypes.data, self.at)
        self.assertTrue((view == FLOATS).all())
        view[7] = -1
        self.assertEqual(self.device_has(7), -1)
        self.device.launch_add(self.at, COUNT, 0.5)
        self.assertEqual(view[[7, 8, -1]].tolist(), [-0.5, 8.5, COUNT - 0.5])

    def test_views_ufuncs_and_files_work_in_place(self):
        view = adsm.array(self.offer())
        np.sqrt(view, out=view)
        self.assertEqual(self.device_has(16), 4)
        with tempfile.TemporaryFile() as file:
            os.write(file.fileno(), view)
            view.tofile(file)
            file.seek(0)
            for _ in range(2):
                self.device.launch_add(self.at, COUNT, 1)
                self.assertEqual(file.readinto(memoryview(view).cast('B')),
                                 FLOATS.nbytes)
                self.assertEqual(self.device_has(16), 4)

    def test_access_waits_for_a_kernel_of_any_stream(self):
        view = adsm.array(self.offer())
        self.launch_slow(self.device.stream())
        self.assertEqual(view[-1], COUNT)

    def test_faulthandler_is_not_called(self):
        faulthandler.enable()
        self.addCleanup(faulthandler.disable)
        self.device.launch_add(self.at, COUNT, 1)
        self.assertEqual(adsm.array(self.offer())[1], 2)

    def test_another_thread_without_a_context(self):
        got, context = [], ctypes.c_void_p()

        def look():
            got.append(adsm.array(self.offer(stream=1))[3])
            self.device.call('cuCtxGetCurrent', ctypes.byref(context))

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        self.assertEqual((got, context.value), ([3], None))


class Shapes(Case):
    def test_strides(self):
        view = adsm.array(self.offer((8, 4), strides=(256, 8)))
        self.assertTrue((view == FLOATS[:8 * 64].reshape(8, 64)[:, :8:2]).all())
        view[2, 1] = -5
        self.assertEqual(self.device_has(2 * 64 + 2), -5)

    def test_strides_of_fortran(self):
        view = adsm.array(self.offer((3, 5), strides=(4, 12)))
        self.assertTrue(view.flags.f_contiguous)
        self.assertTrue((view == FLOATS[:15].reshape(5, 3).T).all())

    def test_negative_strides(self):
        view = adsm.array(self.offer((10,), strides=(-8,), at=self.at + 80))
        self.assertEqual(view.tolist(), FLOATS[20:0:-2].tolist())

    def test_stride_of_nothing(self):
        view = adsm.array(self.offer((3, 2), strides=(0, 4), at=self.at + 4))
        self.assertEqual(view.tolist(), [[1, 2]] * 3)

    def test_no_elements(self):
        for shape in (0,), (3, 0, 2):
            for at in self.at, 0:
                view = adsm.array(self.offer(shape, at=at))
                self.assertEqual((view.shape, view.dtype), (shape, np.float32))
            view = adsm.array(Tensors().capsule(None, shape))
            self.assertEqual((view.shape, view.dtype), (shape, np.float32))

    def test_no_dimensions(self):
        view = adsm.array(self.offer((), at=self.at + 12))
        self.assertEqual((view.shape, view[()]), ((), 3))
        view[()] = 9
        self.assertEqual(self.device_has(3), 9)
        self.assertEqual(adsm.array(Tensors().capsule(self.at, ()))[()], 0)

    def test_read_only(self):
        view = adsm.array(self.offer(read_only=True))
        with self.assertRaises(ValueError):
            view[0] = 1
        with self.assertRaises(ValueError):
            view.flags.writeable = True
        self.assertEqual(view[5], 5)

    def test_version_2(self):
        self.assertEqual(adsm.array(self.offer(version=2))[4], 4)

    def test_lists_and_numbers_of_numpy(self):
        view = adsm.array(self.offer([np.int64(2), 3], at=np.uint64(self.at),
                                     strides=[np.int32(12), 4]))
        self.assertEqual(view.tolist(), [[0, 1, 2], [3, 4, 5]])


class Types(Case):
    def test_numbers(self):
        for name in ('bool', 'int8', 'uint8', 'int16', 'uint16', 'int32',
                     'uint32', 'int64', 'uint64', 'float16', 'float32',
                     'float64', 'complex64', 'complex128', 'datetime64[us]'):
            wanted = np.array([0, 1, 1, 0, 1]).astype(name)
            self.device.upload(self.at, wanted.tobytes())
            view = adsm.array(self.offer((5,), wanted.dtype.str))
            self.assertEqual(view.dtype, wanted.dtype)
            self.assertEqual(view.tolist(), wanted.tolist(), name)

    def test_big_endian(self):
        for typestr in '>f4', '>i2', '>c16':
            wanted = np.arange(9).astype(typestr)
            self.device.upload(self.at, wanted.tobytes())
            view = adsm.array(self.offer((9,), typestr))
            self.assertEqual(view.dtype.str, typestr)
            self.assertEqual(view.tolist(), wanted.tolist())
            view[1] = 4
            self.assertEqual(self.device.download(self.at, wanted.nbytes),
                             np.array([0, 4, *range(2, 9)],
                                      typestr).tobytes())

    def test_fields(self):
        dtype = np.dtype([('mass', '<f8'), ('at', '<f4', (3,)), ('kind', 'u1'),
                          ('inner', [('a', '>i2'), ('b', '<i4')])], align=True)
        wanted = np.zeros(6, dtype)
        wanted['at'] = np.arange(18).reshape(6, 3)
        wanted['inner']['a'] = 7
        self.device.upload(self.at, wanted.tobytes())
        view = adsm.array(self.offer((6,), dtype.str, descr=dtype.descr))
        self.assertEqual(view.dtype.names, dtype.names)
        self.assertEqual(view['at'].tolist(), wanted['at'].tolist())
        self.assertEqual(view['inner']['a'].tolist(), [7] * 6)
        view['mass'][2] = 2.5
        self.assertEqual(struct.unpack('d', self.device.download(
            self.at + 2 * dtype.itemsize, 8))[0], 2.5)

    def test_what_numpy_has_not_is_read_as_asked(self):
        self.device.upload(self.at, struct.pack('<4H', 0x3f80, 0x4000, 1, 2))
        offers = [lambda: self.offer((2, 2), '<V2'),
                  lambda: self.offer((2, 2), '<V2', descr=[('', '<V2')]),
                  lambda: Tensors().capsule(self.at, (2, 2), code=4, bits=16)]
        for offer in offers:
            with self.assertRaisesRegex(TypeError, 'dtype=numpy.uint16'):
                adsm.array(offer())
            view = adsm.array(offer(), dtype=np.uint16)
            self.assertEqual(view.tolist(), [[0x3f80, 0x4000], [1, 2]])
            for wrong in np.uint32, object:
                with self.assertRaisesRegex(TypeError, 'of 2 bytes'):
                    adsm.array(offer(), dtype=wrong)

    def test_what_numpy_has_is_read_as_asked(self):
        self.assertEqual(adsm.array(self.offer(), dtype='<i4')[1], 0x3f800000)
        with self.assertRaisesRegex(TypeError, 'dtype object'):
            adsm.array(self.offer((4,), '<i8'), dtype=object)


class Capsules(Case):
    def setUp(self):
        super().setUp()
        self.tensors = Tensors()

    def capsule(self, shape=(COUNT,), **words):
        return self.tensors.capsule(self.at, shape, **words)

    def ended(self):
        gc.collect()
        return len(self.tensors.ended)

    def test_deleter_is_called_once_behind_the_last_view(self):
        for form in Plain, Versioned:
            self.tensors = Tensors()
            capsule = self.capsule(form=form)
            view = adsm.array(capsule)
            del capsule
            part = view[10:20:2].reshape(5, 1)
            del view
            self.assertEqual(self.ended(), 0)
            self.assertEqual(part[:, 0].tolist(), [10, 12, 14, 16, 18])
            del part
            self.assertEqual(self.ended(), 1)
            self.assertEqual(self.tensors.ended, [*self.tensors.kept])

    def test_deleter_may_be_missing(self):
        view = adsm.array(self.capsule(deleter=False))
        self.assertEqual(view[3], 3)

    def test_capsule_is_used_once(self):
        for form in Plain, Versioned:
            capsule = self.capsule(form=form)
            view = adsm.array(capsule)
            with self.assertRaisesRegex(ValueError, 'used before'):
                adsm.array(capsule)
            self.assertEqual(view[2], 2)

    def test_refused_capsule_is_the_producers(self):
        capsule = self.capsule(code=4, bits=16)
        with self.assertRaises(TypeError):
            adsm.array(capsule)
        self.assertEqual(self.ended(), 0)
        view = adsm.array(capsule, dtype=np.uint16)
        del capsule, view
        self.assertEqual(self.ended(), 1)
        with self.assertRaises(TypeError):
            adsm.array(self.capsule(lanes=4))
        self.assertEqual(self.ended(), 2)

    def test_offset_and_strides(self):
        view = adsm.array(self.capsule((3, 2), offset=40, strides=(10, -2)))
        self.assertEqual(view.tolist(), [[10, 8], [20, 18], [30, 28]])

    def test_types(self):
        for code, bits, name in ((0, 8, 'int8'), (0, 64, 'int64'),
                                 (1, 16, 'uint16'), (2, 16, 'float16'),
                                 (2, 64, 'float64'), (5, 64, 'complex64'),
                                 (5, 128, 'complex128'), (6, 8, 'bool')):
            wanted = np.array([1, 0, 1]).astype(name)
            self.device.upload(self.at, wanted.tobytes())
            view = adsm.array(self.capsule((3,), code=code, bits=bits))
            self.assertEqual(view.dtype, wanted.dtype)
            self.assertEqual(view.tolist(), wanted.tolist())

    def test_read_only(self):
        self.assertFalse(adsm.array(self.capsule(form=Versioned, flags=1))
                         .flags.writeable)
        self.assertTrue(adsm.array(self.capsule(form=Versioned))
                        .flags.writeable)

    def test_malformed(self):
        for words, error, says in (
                ({'form': Versioned, 'major': 2}, ValueError, 'version 2'),
                ({'ndim': -1}, ValueError, 'dimensions'),
                ({'ndim': 1 << 20}, ValueError, 'dimensions'),
                ({'shape': None, 'ndim': 2}, ValueError, 'without a shape'),
                ({'shape': (3, -1)}, ValueError, 'shape'),
                ({'shape': (1 << 40, 1 << 40)}, ValueError, 'beyond'),
                ({'shape': (9,), 'strides': (1 << 61,)}, ValueError, 'beyond'),
                ({'kind': 10}, ValueError, 'neither CUDA nor the host'),
                ({'bits': 4}, TypeError, 'whole bytes'),
                ({'bits': 0}, TypeError, 'whole bytes'),
                ({'code': 99}, TypeError, 'code 99')):
            with self.assertRaisesRegex(error, says, msg=words):
                adsm.array(self.capsule(**words))
        self.assertEqual(self.ended(), len(self.tensors.kept))

    def test_other_capsules_are_refused(self):
        import datetime
        with self.assertRaisesRegex(ValueError, 'no DLPack tensor'):
            adsm.array(datetime.datetime_CAPI)


class Asked(Case):
    """Objects with __dlpack__."""

    class Producer:
        def __init__(self, capsule, kind=2, old=False):
            self.give, self.kind, self.old = capsule, kind, old
            self.asked = []

        def __dlpack_device__(self):
            return self.kind, 0

        def __dlpack__(self, **words):
            if self.old and words.keys() - {'stream'}:
                raise TypeError('unexpected keyword argument')
            self.asked.append(words)
            return self.give()

    def producer(self, **words):
        self.tensors = Tensors()
        return self.Producer(lambda: self.tensors.capsule(self.at, (COUNT,)),
                             **words)

    def test_it_is_asked_for_this_memory_on_the_default_stream(self):
        producer = self.producer()
        self.assertEqual(adsm.array(producer)[6], 6)
        self.assertEqual(producer.asked, [
            {'stream': 1, 'max_version': (1, 0), 'copy': False}])
        gc.collect()
        self.assertEqual(len(self.tensors.ended), 1)

    def test_older_ones_are_asked_in_their_words(self):
        producer = self.producer(old=True)
        self.assertEqual(adsm.array(producer)[6], 6)
        self.assertEqual(producer.asked, [{'stream': 1}])

    def test_default_stream_is_waited_for(self):
        producer = self.Producer(lambda: Tensors().capsule(self.other(), (1,)))
        self.launch_slow()
        adsm.array(producer)
        self.assertTrue(self.has_ended())

    def test_memory_of_the_host(self):
        host = np.arange(5)
        self.assertEqual(adsm.array(host).ctypes.data, host.ctypes.data)
        producer = self.Producer(lambda: Tensors().capsule(
            host.ctypes.data, (5,), kind=1, code=0, bits=64), kind=1)
        self.assertEqual(adsm.array(producer).tolist(), [*range(5)])
        self.assertNotIn('stream', producer.asked[0])

    def test_managed_memory(self):
        at = self.device.alloc(64, 'cuMemAllocManaged', 1)
        self.addCleanup(self.device.free, at)
        self.device.upload(at, FLOATS[:16].tobytes())
        producer = self.Producer(lambda: Tensors().capsule(at, (16,), kind=13),
                                 kind=13)
        self.assertEqual(adsm.array(producer).tolist(), [*range(16)])

    def test_other_devices_and_answers_are_refused(self):
        with self.assertRaisesRegex(ValueError, 'neither CUDA nor the host'):
            adsm.array(self.producer(kind=10))
        with self.assertRaisesRegex(ValueError, 'no capsule'):
            adsm.array(self.Producer(lambda: None))


class Streams(Case):
    def test_named_stream_is_waited_for(self):
        stream = self.device.stream()
        offer = self.offer((1,), at=self.other(), stream=stream)
        self.launch_slow(stream)
        adsm.array(offer)
        self.assertTrue(self.has_ended(stream))

    def test_default_streams(self):
        for stream in 1, 2:
            self.device.launch_add(self.at, COUNT, 1, stream)
            self.assertEqual(adsm.array(self.offer(stream=stream))[0], stream)

    def test_stream_of_a_capture_is_an_error(self):
        stream = self.device.stream()
        handle = ctypes.c_void_p(stream)
        self.device.call('cuStreamBeginCapture_v2', handle, 2)
        with self.assertRaisesRegex(RuntimeError, 'CUDA error 90'):
            adsm.array(self.offer(stream=stream))
        self.device.driver.cuStreamEndCapture(
            handle, ctypes.byref(ctypes.c_void_p()))


class Refused(Case):
    def refused(self, error, says, offer, **words):
        with self.assertRaisesRegex(error, says):
            adsm.array(offer, **words)

    def test_malformed_interfaces(self):
        right = {'shape': (4,), 'typestr': '<f4', 'data': (self.at, False)}
        for wrong in (
                {'version': 1}, {'version': 4}, {'version': None},
                {'shape': None}, {'shape': 4}, {'shape': (4, -1)},
                {'shape': ('4',)}, {'shape': (2.5,)},
                {'typestr': None}, {'typestr': 'f4'}, {'typestr': '<f3'},
                {'typestr': '|O8'}, {'typestr': '<i4,<i4'}, {'typestr': ''},
                {'typestr': '<f0'}, {'typestr': '<V' + '9' * 30},
                {'data': None}, {'data': self.at}, {'data': (self.at,)},
                {'data': (None, False)}, {'data': b'0123'},
                {'strides': (4, 4)}, {'strides': 4}, {'strides': ('4',)},
                {'stream': 0}, {'stream': -1}, {'stream': 'default'},
                {'stream': 1 << 64}, {'mask': self.offer()},
                {'typestr': '|V8', 'descr': [('a', '<f4')]},
                {'typestr': '|V8', 'descr': [('a', '|O8')]},
                {'typestr': '|V8', 'descr': [('a', 'nothing')]},
                {'typestr': '|V8', 'descr': [('a',)]},
                {'typestr': '|V8', 'descr': 7}):
            with self.subTest(wrong):
                self.refused(ValueError, '__cuda_array_interface__ is mal',
                             Offer(**{**right, **wrong}))
        for entry in right:
            with self.subTest(without=entry):
                self.refused(ValueError, entry, Offer(**{
                    name: value for name, value in right.items()
                    if name != entry}))
        broken = self.offer()
        broken.__cuda_array_interface__ = 'array'
        self.refused(ValueError, '__cuda_array_interface__ is mal', broken)

    def test_addresses_that_are_none(self):
        self.refused(ValueError, 'no address', self.offer(at=0))
        self.refused(ValueError, 'no address', self.offer(at=-8))
        for words in ({'shape': (1 << 62,)}, {'shape': (1 << 40, 1 << 40)},
                      {'shape': (3,), 'strides': (1 << 63,)},
                      {'shape': (3,), 'strides': (-self.at,)}):
            self.refused(ValueError, 'beyond', self.offer(**words))

    def test_more_dimensions_than_numpy_has(self):
        self.refused(ValueError, 'dimension', self.offer((1,) * 65))

    def test_no_array(self):
        for other in 5, 'text', [1, 2], None:
            self.refused(TypeError, 'neither', other)

    def test_memory_that_the_cpu_cannot_use(self):
        """Said before NumPy meets it: an access would be SIGSEGV."""
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        closed = libc.mmap(None, ctypes.c_size_t(4096), 0, 0x22, -1,
                           ctypes.c_long(0))
        self.refused(RuntimeError, 'cannot be used by the CPU',
                     self.offer((4,), at=closed))

    def test_not_below_adsm_run(self):
        """The same program in the same environment, but for the preload."""
        env = {name: value for name, value in os.environ.items()
               if name != 'LD_PRELOAD'}
        code = ('import adsm\nfrom device import *\nimport sys\n'
                'assert "numpy" not in sys.modules\n'
                'device = Device()\nat = device.alloc(64)\n'
                'assert not len(adsm.array(Offer(shape=(0,), typestr="<f4",'
                ' data=(at, False))))\n'
                'import numpy\nassert adsm.array(numpy.arange(3))[2] == 2\n'
                'try:\n'
                '    adsm.array(Offer(shape=(4,), typestr="<f4",'
                ' data=(at, False)))\n'
                'except RuntimeError as error:\n    print(error)\n')
        done = subprocess.run([sys.executable, '-c', code], env=env, text=True,
                              cwd=pathlib.Path(__file__).parent, check=False,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertIn('`adsm-run python3 ...`', done.stdout)


class Owners(Case):
    def test_object_lives_as_long_as_a_view(self):
        ended = []

        class Owned(Offer):
            def __del__(self):
                ended.append(True)

        view = adsm.array(Owned(shape=(COUNT,), typestr='<f4',
                                data=(self.at, False)))
        part = view[1:].view('<i4')[::2]
        del view
        gc.collect()
        self.assertEqual(ended, [])
        self.assertEqual(part[0], 0x3f800000)
        del part
        gc.collect()
        self.assertEqual(ended, [True])


class Ends(Case):
    def test_interpreter_ends_with_views_and_capsules_left(self):
        code = ('import adsm, atexit\nfrom device import *\n'
                'device, tensors = Device(), Tensors()\n'
                'at = device.alloc(64)\n'
                'capsules = [tensors.capsule(at, (4,)) for _ in range(3)]\n'
                'views = [adsm.array(capsule) for capsule in capsules[:2]]\n'
                'views[0][:] = 5\n'
                'atexit.register(lambda: print(views[1][3], tensors.ended))\n')
        done = subprocess.run([sys.executable, '-c', code], text=True,
                              cwd=pathlib.Path(__file__).parent, check=False,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stderr, done.stdout),
                         (0, '', '5.0 []\n'))


if __name__ == '__main__':
    suite.main()
