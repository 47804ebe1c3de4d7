#!/usr/bin/env python3
"""adsm-run as built: environment, checks of values, exit statuses, warnings.

test_run.py BUILD-ROOT [C-COMPILER]
"""
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
COMPILER = sys.argv[2] if len(sys.argv) > 2 else 'cc'
del sys.argv[1:]
RUN = BUILD / 'tools/adsm-run'
PRELOAD = BUILD / 'interpose/libadsm-preload.so'
SOFTCUDA = (BUILD / 'tools/softcuda').resolve()


def plain_environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(('ADSM_', 'SOFTCUDA_', 'LD_'))}


def adsm_run(*words, program=RUN, cwd=None, **extra):
    return subprocess.run([str(program), *map(str, words)], text=True,
                          env={**plain_environment(), **extra}, cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          check=False, timeout=60)


def environment_of(*options, **extra):
    """What a program started with these options finds in its environment."""
    run = adsm_run(*options, 'env', '-0', **extra)
    assert run.returncode == 0, run
    return dict(line.split('=', 1) for line in run.stdout.split('\0') if line)


def tiny_static_program(path):
    """An ELF file without interpreter whose only act is exit(7)."""
    code = bytes([0xbf, 7, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05])
    base, start = 0x400000, 64 + 56
    head = struct.pack('<16sHHIQQQIHHHHHH',
                       b'\x7fELF\x02\x01\x01' + bytes(9), 2, 62, 1,
                       base + start, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    load = struct.pack('<IIQQQQQQ', 1, 5, 0, base, base, start + len(code),
                       start + len(code), 0x1000)
    path.write_bytes(head + load + code)
    path.chmod(0o755)


class Environment(unittest.TestCase):
    def test_no_option_preloads_and_sets_nothing_else(self):
        env = environment_of()
        self.assertEqual(env['LD_PRELOAD'], str(PRELOAD))
        self.assertEqual([name for name in env
                          if name.startswith(('ADSM_', 'SOFTCUDA_'))], [])
        self.assertNotIn('LD_LIBRARY_PATH', env)
        self.assertEqual(env['PYTHONPATH'], str(BUILD / 'tools/python'))

    def test_every_flag_sets_its_variable(self):
        env = environment_of('--protocol', 'lazy', '--block-size=64K',
                             '--rolling-size', '8', '--call-devices=4',
                             '--check', '--soft=3',
                             '--soft-memory=256M', '--stats',
                             '--stats-file', '/dev/null')
        self.assertEqual(env['ADSM_PROTOCOL'], 'lazy')
        self.assertEqual(env['ADSM_BLOCK_SIZE'], '64K')
        self.assertEqual(env['ADSM_ROLLING_SIZE'], '8')
        self.assertEqual(env['ADSM_CALL_DEVICES'], '4')
        self.assertEqual(env['ADSM_CHECK'], '1')
        self.assertEqual(env['SOFTCUDA_DEVICES'], '3')
        self.assertEqual(env['SOFTCUDA_MEMORY'], '256M')
        self.assertEqual(env['ADSM_STATS'], '1')
        self.assertEqual(env['ADSM_STATS_FILE'], '/dev/null')

    def test_report_is_printed_and_goes_to_a_file_if_one_is_named(self):
        env = environment_of('--report')
        self.assertEqual(env['ADSM_REPORT'], '1')
        self.assertNotIn('ADSM_REPORT_FILE', env)
        env = environment_of('--report=r.json')
        self.assertEqual(env['ADSM_REPORT'], '1')
        self.assertEqual(env['ADSM_REPORT_FILE'], f'{os.getcwd()}/r.json')
        env = environment_of('--set', 'ADSM_REPORT_FILE=r.json')
        self.assertEqual(env['ADSM_REPORT_FILE'], f'{os.getcwd()}/r.json')
        self.assertNotIn('ADSM_REPORT', env)

    def test_set_sets_any_option(self):
        env = environment_of('--set', 'ADSM_KEEP_OPEN=64K',
                             '--set=ADSM_FAULT_ENGINE=async', '--protocol',
                             'lazy', '--set', 'ADSM_PROTOCOL=batch',
                             '--set=ADSM_TRACE=t')
        self.assertEqual(env['ADSM_KEEP_OPEN'], '64K')
        self.assertEqual(env['ADSM_FAULT_ENGINE'], 'async')
        self.assertEqual(env['ADSM_PROTOCOL'], 'batch')
        self.assertEqual(env['ADSM_TRACE'], f'{os.getcwd()}/t')

    def test_flag_wins_over_variable_and_last_flag_wins(self):
        env = environment_of('--protocol=lazy', '--protocol=batch',
                             ADSM_PROTOCOL='rolling')
        self.assertEqual(env['ADSM_PROTOCOL'], 'batch')

    def test_present_lists_are_kept_behind_ours(self):
        libc = next(line.split()[-1] for line in
                    open('/proc/self/maps', encoding='utf-8')
                    if 'libc.so' in line)
        env = environment_of('--soft', LD_PRELOAD=libc, LD_LIBRARY_PATH='/dev',
                             PYTHONPATH='/etc')
        self.assertEqual(env['LD_PRELOAD'], f'{PRELOAD}:{libc}')
        self.assertEqual(env['LD_LIBRARY_PATH'], f'{SOFTCUDA}:/dev')
        self.assertEqual(env['PYTHONPATH'], f'{BUILD}/tools/python:/etc')

    def test_mpi_is_preloaded_into_ranks_and_on_request_only(self):
        both = f'{PRELOAD}:{PRELOAD.parent / "libadsm-mpi.so"}'
        self.assertEqual(environment_of('--mpi')['LD_PRELOAD'], both)
        for name in 'OMPI_COMM_WORLD_RANK', 'PMIX_RANK', 'PMI_RANK':
            self.assertEqual(environment_of(**{name: '0'})['LD_PRELOAD'], both)

    def test_program_linked_with_mpi_is_seen(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        source = pathlib.Path(folder) / 'rank.c'
        source.write_text('#include <stdio.h>\n#include <stdlib.h>\n'
                          'int MPI_Init(int *, char ***);\n'
                          'int main(void)\n{\n'
                          '    return puts(getenv("LD_PRELOAD")) < 0 &&\n'
                          '           MPI_Init(0, 0);\n}\n',
                          encoding='utf-8')
        library = pathlib.Path(folder) / 'mpi.c'
        library.write_text('int MPI_Init(int *a, char ***b) { return a != b; }',
                           encoding='utf-8')
        for words in (['-shared', '-fPIC', '-Wl,-soname,libmpi.so.40', '-w',
                       library, '-o', f'{folder}/libmpi.so.40'],
                      [source, f'{folder}/libmpi.so.40', '-o',
                       f'{folder}/rank']):
            subprocess.run([*COMPILER.split(), *words], check=True)
        run = adsm_run(f'{folder}/rank', LD_LIBRARY_PATH=folder)
        self.assertIn('libadsm-mpi.so', run.stdout)

    def test_soft_finds_driver_and_runtime(self):
        if not (SOFTCUDA / 'libcudart.so.13').exists():
            self.skipTest('the runtime is not built')
        run = adsm_run('--soft', sys.executable, '-c',
                       'import ctypes\n'
                       'for name in "libcuda.so.1", "libcudart.so.13":\n'
                       '    print(ctypes.CDLL(name)._name)\n'
                       'print(open("/proc/self/maps").read())\n')
        self.assertEqual(run.returncode, 0, run.stderr)
        for name in 'libcuda.so.1', 'libcudart.so.13':
            self.assertIn(f'{SOFTCUDA}/{name}', run.stdout)

    def test_memory_that_is_not_shared_is_said_on_request(self):
        code = ('import ctypes as c\n'
                'cuda = c.CDLL("libcuda.so.1")\n'
                'context, at = c.c_void_p(), c.c_void_p()\n'
                'for status in (cuda.cuInit(0),\n'
                '        cuda.cuDevicePrimaryCtxRetain(c.byref(context), 0),\n'
                '        cuda.cuCtxSetCurrent(context),\n'
                '        cuda.cuMemAllocAsync(c.byref(at), c.c_size_t(64),\n'
                '                             None)):\n'
                '    assert status == 0, status\n')
        for level in 'info', 'warn':
            run = adsm_run('--soft', sys.executable, '-c', code,
                           ADSM_LOG=level)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual('memory of cuMemAllocAsync is not shared'
                             in run.stderr, level == 'info', run.stderr)

    def test_soft_without_count_leaves_the_count_alone(self):
        env = environment_of('--soft', SOFTCUDA_DEVICES='2')
        self.assertEqual(env['SOFTCUDA_DEVICES'], '2')

    def test_relative_files_are_made_absolute(self):
        with tempfile.TemporaryDirectory() as folder:
            run = adsm_run('--trace', 't.json', '--soft', 'env', cwd=folder)
            self.assertIn(f'ADSM_TRACE={os.path.realpath(folder)}/t.json\n',
                          run.stdout)


class Program(unittest.TestCase):
    def test_arguments_after_program_are_its_own(self):
        run = adsm_run('--soft', 'echo', '--stats', '--', '-x')
        self.assertEqual(run.stdout, '--stats -- -x\n')

    def test_double_dash_ends_the_options(self):
        self.assertEqual(adsm_run('--soft', '--', 'echo', 'a').stdout, 'a\n')

    def test_exit_status_is_the_programs(self):
        self.assertEqual(adsm_run('--soft', 'sh', '-c', 'exit 41').returncode,
                         41)

    def test_death_by_signal_is_the_programs(self):
        run = adsm_run('--soft', 'sh', '-c', 'kill -TERM $$')
        self.assertEqual(run.returncode, -signal.SIGTERM)

    def test_unknown_program_gives_127(self):
        run = adsm_run('no-such-program-here')
        self.assertEqual(run.returncode, 127)
        self.assertEqual(run.stderr, 'adsm-run: no-such-program-here: '
                                     'No such file or directory\n')

    def test_file_that_cannot_be_run_gives_126(self):
        run = adsm_run('/etc/passwd')
        self.assertEqual(run.returncode, 126)
        self.assertIn('/etc/passwd: Permission denied', run.stderr)

    def test_missing_interpreter_is_not_a_missing_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'script'
            path.write_text('#!/dev/null/shell\n')
            path.chmod(0o755)
            run = adsm_run('--soft', path)
        self.assertEqual(run.returncode, 126)
        self.assertEqual(run.stderr, f'adsm-run: {path}: the interpreter or '
                                     'loader it names does not exist\n')

    @unittest.skipUnless(os.uname().machine == 'x86_64', 'x86-64 code')
    def test_static_program_is_warned_about_and_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'static'
            tiny_static_program(path)
            run = adsm_run('--soft', path)
        self.assertEqual(run.returncode, 7)
        self.assertIn('is linked statically', run.stderr)

    @unittest.skipUnless(os.getuid() == 0, 'needs root to make the file')
    def test_set_user_id_program_is_warned_about(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = shutil.copy(shutil.which('true'), folder)
            os.chown(path, 65534, 65534)
            os.chmod(path, 0o4755)
            run = adsm_run('--soft', path)
        self.assertEqual(run.returncode, 0)
        self.assertIn('more rights than you', run.stderr)

    def test_script_is_run_without_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'script'
            path.write_text('#!/bin/sh\necho "$ADSM_PROTOCOL"\n')
            path.chmod(0o755)
            run = adsm_run('--soft', '--protocol', 'batch', path)
        self.assertEqual((run.stdout, run.stderr), ('batch\n', ''))

    def test_no_driver_is_said_with_the_way_out(self):
        probe = [sys.executable, '-c',
                 'import ctypes; ctypes.CDLL("libcuda.so.1")']
        if subprocess.run(probe, check=False, capture_output=True,
                          env=plain_environment()).returncode == 0:
            self.skipTest('there is a CUDA driver here')
        run = adsm_run('echo', 'ran')
        self.assertEqual(run.stdout, 'ran\n')
        self.assertIn('no CUDA driver', run.stderr)
        self.assertIn('--soft', run.stderr)


class Wrong(unittest.TestCase):
    def refused(self, words, *texts):
        run = adsm_run(*words)
        self.assertEqual(run.returncode, 2, run)
        self.assertEqual(run.stdout, '')
        self.assertEqual(run.stderr.count('\n'), 1, run.stderr)
        for text in texts:
            self.assertIn(text, run.stderr)

    def test_unknown_protocol_names_the_known_ones(self):
        self.refused(['--protocol', 'eager', 'true'], "'eager'",
                     'batch, lazy or rolling')

    def test_block_size_must_be_a_power_of_two(self):
        for value in ('3000', '2K', '2G', '64Q', '-4096', '', '4096.5'):
            self.refused(['--block-size', value, 'true'], f"'{value}'",
                         '4K to 1G, a power of two')

    def test_rolling_size_must_be_a_number(self):
        for value in ('-1', 'many', '1048577', '1K '):
            self.refused(['--rolling-size=' + value, 'true'], f"'{value}'")

    def test_soft_count_has_bounds(self):
        for value in ('0', '17', 'two', '', '1x', '99999999999999999999'):
            self.refused(['--soft=' + value, 'true'], '1 to 16')

    def test_soft_memory_has_bounds(self):
        for value in ('1M', '1025G', '2T', 'lots', '', '4', '-8G', '1MM',
                      'nan', '64MBs'):
            self.refused(['--soft-memory=' + value, 'true'], '4M to 1T')

    def test_soft_memory_takes_what_the_device_takes(self):
        for value in ('4M', '64MB', '1.5GiB', '128g', '1T', '8388608'):
            run = adsm_run('--soft', '--soft-memory', value,
                           BUILD / 'tools/adsm-info', '--devices')
            self.assertEqual((run.returncode, run.stderr), (0, ''), value)

    def test_set_takes_what_an_option_takes(self):
        for value in ('ADSM_PROTOCOL', 'ADSM_PROTOCOl=lazy', '=lazy', '',
                      'PATH=x', 'SOFTCUDA_DEVICES=2'):
            self.refused(['--set', value, 'true'], f"'{value}'",
                         'adsm-info --options')
        self.refused(['--set', 'ADSM_PROTOCOL=eager', 'true'], "'eager'",
                     'ADSM_PROTOCOL', 'batch, lazy or rolling')
        self.refused(['--set=ADSM_TRACE=', 'true'], 'a file name')
        self.refused(['--report=', 'true'], 'a file name')

    def test_missing_value_is_said(self):
        self.refused(['--protocol'], '--protocol needs a value')

    def test_value_where_none_belongs_is_said(self):
        self.refused(['--stats=1', 'true'], '--stats takes no value')

    def test_unknown_option_points_to_help(self):
        self.refused(['--protocl', 'lazy', 'true'], "'--protocl'", '--help')

    def test_no_program_is_said(self):
        self.refused([], 'no program given')
        self.refused(['--soft', '--'], 'no program given')


class Incomplete(unittest.TestCase):
    def test_alone_it_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            program = shutil.copy(RUN, folder)
            run = adsm_run('true', program=program)
        self.assertEqual(run.returncode, 125)
        self.assertIn('libadsm-preload.so is not beside', run.stderr)

    def without(self, missing):
        """Run --soft with a device that lacks a file; the program is linked
        with its libcudart.so.12."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / 'p.c').write_text('int main(void) { return 0; }\n')
            subprocess.run([*COMPILER.split(), folder / 'p.c', '-o',
                            folder / 'p', '-Wl,--no-as-needed', '-L', SOFTCUDA,
                            '-l:libcudart.so.12'], check=True)
            program = shutil.copy(RUN, folder)
            shutil.copy(PRELOAD, folder)
            (folder / 'softcuda').mkdir()
            for file in SOFTCUDA.iterdir():
                if file.is_file() and file.name != missing:
                    (folder / 'softcuda' / file.name).symlink_to(file)
            return adsm_run('--soft', folder / 'p', program=program,
                            LD_LIBRARY_PATH=str(BUILD / 'libadsm'))

    def test_soft_without_the_programs_runtime_is_refused(self):
        run = self.without('libcudart.so.12')
        self.assertEqual(run.returncode, 125, run)
        self.assertIn('there is no libcudart.so.12 in', run.stderr)

    def test_soft_without_the_device_program_is_refused(self):
        run = self.without('softcuda-device')
        self.assertEqual(run.returncode, 125, run)
        self.assertIn('there is no softcuda-device in', run.stderr)

    def test_soft_without_another_runtime_is_silent(self):
        run = self.without('libcudart.so.13')
        self.assertEqual((run.returncode, run.stderr), (0, ''))

    def test_folder_the_loader_cannot_take_is_refused(self):
        for suffix in 'a:b', 'a;b':
            with tempfile.TemporaryDirectory(suffix=suffix) as folder:
                shutil.copy(PRELOAD, folder)
                program = shutil.copy(RUN, folder)
                run = adsm_run('true', program=program)
            self.assertEqual(run.returncode, 125)
            self.assertIn('colon or semicolon', run.stderr)

    def test_help_names_every_flag(self):
        out = adsm_run('--help').stdout
        for flag in ('--protocol', '--block-size', '--rolling-size',
                     '--call-devices', '--soft', '--soft-memory', '--gdb',
                     '--stats', '--stats-file', '--report[=FILE]', '--trace'):
            self.assertIn(f'  {flag}', out)


if __name__ == '__main__':
    suite.main()
