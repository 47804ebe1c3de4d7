#!/usr/bin/env python3
"""Drivers that differ from the software device in one thing (planted.h).

For each: adsm-info says what it is, programs compute the same.

test_drivers.py BUILD-ROOT
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
PRELOAD = str(BUILD / 'interpose/libadsm-preload.so')
WAVE = BUILD / 'bench/wave'
PLAIN = {name: value for name, value in suite.plain_environment().items()
         if not name.startswith('PLANTED')}
# Of the time before primary contexts: prints the result of an allocation.
ALLOCATE = """
import ctypes
cuda = ctypes.CDLL('libcuda.so.1')
at = ctypes.c_ulonglong()
cuda.cuInit(0)
cuda.cuCtxCreate_v2(ctypes.byref(at), 0, 0)
print(cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(4096)))
"""
# Prints the results of freeing memory before and after a launch.
LAUNCH = """
import ctypes
cuda = ctypes.CDLL('libcuda.so.1')
at, again, module, kernel = (ctypes.c_ulonglong() for _ in range(4))
TEXT = b'.version 6.4 .target sm_70 .address_size 64 .entry k() { ret; }'
cuda.cuInit(0)
cuda.cuCtxCreate_v2(ctypes.byref(at), 0, 0)
for pointer in at, again:
    cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(1 << 20))
cuda.cuModuleLoadData(ctypes.byref(module), TEXT)
cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b'k')
print(cuda.cuMemFree_v2(at), cuda.cuLaunchKernel(
    kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None), cuda.cuMemFree_v2(again))
"""
TAKEN = 'something is mapped on the host where the driver '


def run(planted, *words, **extra):
    """A command with the planted driver in place of the device's."""
    env = {**PLAIN, 'LD_LIBRARY_PATH': str(BUILD / 'tests/drivers'),
           'PLANTED': planted, **extra}
    return subprocess.run(list(map(str, words)), env=env, text=True,
                          capture_output=True, check=False, timeout=120)


def wave(planted, program, **extra):
    """Exit status, digest of the result, and what others than the program
    said beside it (it tells how far it is where it takes long)."""
    done = run(planted, BUILD / 'tools/adsm-run', WAVE / program,
               '--steps', '10', **extra)
    digest = re.search(r'digest +(\w+)', done.stdout)
    said = re.sub(rf'(?m)^{program}: step .*\n', '', done.stderr)
    return done.returncode, digest and digest.group(1), said


def info(planted, name, **extra):
    """Rows of a section of adsm-info."""
    done = run(planted, BUILD / 'tools/adsm-info', '--json', f'--{name}',
               **extra)
    assert (done.returncode, done.stderr) == (0, ''), done
    return json.loads(done.stdout)[name]


class Planted(unittest.TestCase):
    """What every planted driver is asked."""
    maxDiff = None

    def strategy(self, planted, name, *reasons):
        device, = info(planted, 'devices')
        self.assertEqual(device['address'], name, device)
        for reason in reasons:
            self.assertIn(reason, device['why'])

    def finding(self, planted, what, state, why, **extra):
        """A row of what adsm-info found out about the driver."""
        row, = (row for row in info(planted, 'driver', **extra)
                if row['what'] == what)
        self.assertEqual((row['state'], row['why']), (state, why))

    def same_results(self, planted, *programs, said='', **extra):
        status, digest, _ = wave('', 'wave_explicit')
        self.assertEqual(status, 0)
        self.assertIsNotNone(digest)
        for program in programs or ('wave_explicit', 'wave_ported',
                                    'wave_adsm'):
            self.assertEqual(wave(planted, program, **extra),
                             (0, digest, said), program)


class Addresses(Planted):
    def test_nothing_planted_is_the_software_device(self):
        self.strategy('', 'window')
        self.same_results('')

    def test_taken_ranges_leave_the_overlay(self):
        self.strategy('range', 'overlay',
                      f'no window ({TAKEN}reserved addresses); ')
        self.same_results('range')

    def test_taken_allocations_do_not_matter_to_the_window(self):
        self.strategy('memory', 'window')
        self.same_results('memory')

    def test_all_addresses_taken_leaves_translation(self):
        self.strategy('range,memory', 'translate',
                      f'no window ({TAKEN}reserved addresses); ',
                      f'no overlay ({TAKEN}put device memory); ')
        self.same_results('range,memory', 'wave_adsm')

    def test_all_addresses_taken_is_told_to_a_preloaded_program(self):
        status, _, said = wave('range,memory', 'wave_explicit')
        self.assertEqual(status, 0)
        self.assertEqual(said.count('\n'), 1, said)
        self.assertIn('allocations are not shared: no window (', said)

    def test_device_without_mapping_leaves_the_overlay(self):
        self.strategy('vmm', 'overlay', 'no window (the device cannot map '
                      'memory to reserved addresses); ')
        self.same_results('vmm')

    def test_window_is_made_of_the_pieces_that_the_driver_maps(self):
        for mib in 4, 32:
            self.strategy(f'granule={mib << 20}', 'window')
            self.same_results(f'granule={mib << 20}')
            self.same_results(f'granule={mib << 20}', ADSM_SLAB_MAX='0')

    def test_pieces_that_are_too_large_leave_the_overlay(self):
        self.strategy(f'granule={64 << 20}', 'overlay', 'no window (device '
                      'memory can only be mapped in pieces that are not 2 to '
                      '32 MiB); ')
        self.same_results(f'granule={64 << 20}')


class Told(Planted):
    """The sentences of adsm-info --driver."""

    def test_software_device_as_it_is(self):
        rows = info('', 'driver', SOFTCUDA_DEVICES='2')
        self.assertEqual(
            [(row['device'], row['what'], row['state']) for row in rows],
            [('', 'CUDA version', '13.0'), ('', 'look-up by version', 'yes')]
            + [(device, what, state) for device in (0, 1) for what, state in
               (('page-locked memory', 'yes'),
                ('copies of other memory', 'direct'),
                ('granule', '2048 KiB'))])
        self.assertEqual(rows[0]['why'],
                         str(BUILD / 'tests/drivers/libcuda.so.1'))

    def test_driver_that_registers_nothing(self):
        self.finding('register', 'page-locked memory', 'no',
                     'no host memory is page-locked (cuMemHostRegister: '
                     'CUDA_ERROR_INVALID_VALUE (1, invalid argument)): copies '
                     'go through buffers')
        self.finding('register', 'copies of other memory', 'direct',
                     'the driver takes memory that is not page-locked')

    def test_driver_that_copies_page_locked_memory_only(self):
        for planted in 'copies', 'register,copies':
            self.finding(planted, 'copies of other memory', 'by buffers',
                         'the driver refuses memory that is not page-locked: '
                         'copies of it go through buffers of libadsm')

    def test_driver_without_look_up_by_version(self):
        self.finding('lookup', 'look-up by version', 'no',
                     'the driver has no cuGetProcAddress: functions are found '
                     'by name, and programs whose CUDA runtime needs it do '
                     'not start')

    def test_driver_that_cannot_map(self):
        self.finding('vmm', 'granule', '-',
                     'the device cannot map memory to reserved addresses')
        self.finding('old=10000', 'granule', '-',
                     'the driver cannot reserve device addresses')
        self.finding('old=10000', 'CUDA version', '10.0',
                     str(BUILD / 'tests/drivers/libcuda.so.1'))

    def test_driver_whose_addresses_are_taken_cannot_have_adopt(self):
        taken = f'{TAKEN}put device memory'
        for asked, state, why in (
                ('auto', 'in force', taken),
                ('adopt', 'not in force',
                 f'{taken}; ADSM_ADDRESS asks for it all the same, and of '
                 'this device nothing is shared')):
            window, adopt = info('memory', 'sharing', ADSM_ADDRESS=asked)
            self.assertEqual((window['address'], window['state']),
                             ('window', state))
            self.assertEqual((adopt['address'], adopt['state'], adopt['why']),
                             ('adopt', 'cannot be had', why))

    def test_no_driver_is_said_and_no_error(self):
        done = run('old=6050', BUILD / 'tools/adsm-info', '--driver')
        self.assertEqual(done.returncode, 0)
        self.assertIn('driver\n  none: libcuda.so.1 has no ', done.stdout)


class EntryPoints(Planted):
    def test_driver_without_look_up_by_version_works(self):
        self.strategy('lookup', 'window')
        self.same_results('lookup')

    def test_driver_of_cuda_11_works(self):
        self.strategy('old=11000', 'window')
        self.same_results('old=11000')

    def test_driver_of_cuda_10_works_without_the_window(self):
        self.strategy('old=10000', 'overlay',
                      'no window (the driver cannot reserve device addresses)')
        self.same_results('old=10000')

    def test_driver_that_is_too_old_is_told_with_what_it_lacks(self):
        lacks = ('libcuda.so.1 has no cuDevicePrimaryCtxRetain: it is too old '
                 'to be used')
        said = run('old=6050', BUILD / 'tools/adsm-info', '--devices').stdout
        self.assertIn(f'  none: {lacks}\n', said)
        done = run('old=6050', sys.executable, '-c', ALLOCATE,
                   LD_PRELOAD=PRELOAD)
        self.assertEqual((done.returncode, done.stdout), (0, '0\n'), done)
        self.assertEqual(done.stderr, 'libadsm: error: not started, the '
                         f'program runs without it: {lacks}\n')


class Copies(Planted):
    def test_registration_that_fails_changes_no_result(self):
        self.same_results('register')

    def test_registration_that_fails_is_said_once_and_not_tried_again(self):
        for result, name in ((1, 'CUDA_ERROR_INVALID_VALUE'),
                             (304, 'CUDA_ERROR_OPERATING_SYSTEM'),
                             (801, 'CUDA_ERROR_NOT_SUPPORTED'),
                             (999, 'CUDA_ERROR_UNKNOWN')):
            status, _, said = wave(f'register={result},count', 'wave_ported',
                                   ADSM_LOG='info')
            self.assertEqual(status, 0, said)
            self.assertEqual(len(re.findall(
                r'no host memory is page-locked \(cuMemHostRegister: '
                rf'{name} \({result}, .*\)\): copies go through buffers\n',
                said)), 1, said)
            self.assertIn('planted: 1 registrations\n', said)

    def test_refused_copies_of_ordinary_memory_change_no_result(self):
        self.same_results('copies')

    def test_refused_copies_go_through_buffers_under_every_protocol(self):
        for protocol in 'batch', 'lazy', 'rolling':
            self.same_results('register,copies', ADSM_PROTOCOL=protocol)
        self.same_results('register,copies', ADSM_BLOCK_SIZE='4K',
                          ADSM_ROLLING_SIZE='1')

    def test_that_copies_go_through_buffers_is_said_once(self):
        _, _, said = wave('register,copies', 'wave_ported', ADSM_LOG='info')
        self.assertEqual(said.count(
            'libadsm: the driver refuses copies of host memory that is not '
            'page-locked; they go through buffers\n'), 1, said)


class Errors(Planted):
    def test_result_that_ends_the_process_is_that_of_later_calls(self):
        for result in 700, 719, 226, 721:
            done = run(f'dead={result}', sys.executable, '-c', LAUNCH,
                       LD_PRELOAD=PRELOAD)
            self.assertEqual((done.returncode, done.stdout),
                             (0, f'0 {result} {result}\n'), done)


if __name__ == '__main__':
    suite.main()
