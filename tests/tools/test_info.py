#!/usr/bin/env python3
"""adsm-info as built: sections, JSON, sources of values, no driver at all.

test_info.py BUILD-ROOT
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / 'common'))
import suite  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
INFO = BUILD / 'tools/adsm-info'
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / 'docs/examples'
SOFT = {'LD_LIBRARY_PATH': str(BUILD / 'tools/softcuda')}

# A program without membarrier, for which EPERM stands, that becomes its
# arguments.
NO_MEMBARRIER = '''import ctypes, os, platform, struct, sys
NUMBER = {'x86_64': 324, 'aarch64': 283}[platform.machine()]
code = b''.join(struct.pack('HBBI', *line) for line in [
    (0x20, 0, 0, 0), (0x15, 0, 1, NUMBER), (0x06, 0, 0, 0x00050001),
    (0x06, 0, 0, 0x7fff0000)])
kept = ctypes.create_string_buffer(code)
program = struct.pack('HxxxxxxP', 4, ctypes.addressof(kept))
prctl = ctypes.CDLL(None).prctl
assert prctl(38, 1, 0, 0, 0) == 0
assert prctl(22, 2, ctypes.c_char_p(program), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])'''

# A program with no huge pages (PR_SET_THP_DISABLE) that becomes its arguments.
THP_OFF = '''import ctypes, os, sys
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])'''

PLAIN = {name: value for name, value in os.environ.items()
         if not name.startswith(('ADSM_', 'SOFTCUDA_', 'LD_'))}


def adsm_info(*words, **extra):
    return subprocess.run([INFO, *words], env={**PLAIN, **extra}, text=True,
                          capture_output=True, check=False, timeout=60)


def section(name, **extra):
    """Rows of one section, and what was said on stderr."""
    run = adsm_info('--json', f'--{name}', **extra)
    assert run.returncode == 0, run
    whole = json.loads(run.stdout)
    assert set(whole) == {'version', name}, whole
    return whole[name], run.stderr


def option(name, **extra):
    rows, said = section('options', **extra)
    return next(row for row in rows if row['option'] == name), said


class Options(unittest.TestCase):
    def test_defaults_are_shown_as_such(self):
        rows, said = section('options')
        self.assertEqual({row['source'] for row in rows}, {'default'})
        self.assertTrue(all(row['value'] == row['default'] for row in rows))
        self.assertEqual(said, '')

    def test_value_from_environment_is_shown_as_such(self):
        row, said = option('ADSM_BLOCK_SIZE', ADSM_BLOCK_SIZE='1M')
        self.assertEqual((row['value'], row['default'], row['source']),
                         ('1M', '256K', 'environment'))
        self.assertEqual(said, '')

    def test_bad_value_warns_and_keeps_the_default(self):
        row, said = option('ADSM_BLOCK_SIZE', ADSM_BLOCK_SIZE='3000')
        self.assertEqual((row['value'], row['source']), ('256K', 'default'))
        self.assertEqual(said.count('\n'), 1, said)
        self.assertIn('4K', said)

    def test_unknown_variable_warns_with_the_nearest_name(self):
        _, said = section('options', ADSM_PROTOCL='lazy')
        self.assertIn('ADSM_PROTOCL', said)
        self.assertIn('ADSM_PROTOCOL', said)

    def test_control_characters_stay_valid_json(self):
        row, _ = option('ADSM_TRACE', ADSM_TRACE='a"\\\n\t\x01b')
        self.assertEqual(row['value'], 'a"\\\n\t\x01b')

    def test_text_has_a_line_for_every_option(self):
        out = adsm_info('--options').stdout
        for row in section('options')[0]:
            self.assertRegex(out, rf"(?m)^  {row['option']} +\S.* default ")


class Sections(unittest.TestCase):
    def test_all_sections_when_none_is_named(self):
        whole = json.loads(adsm_info('--json', **SOFT).stdout)
        self.assertEqual(list(whole), ['version', 'devices', 'sharing', 'driver',
                                       'engines', 'memory', 'options',
                                       'hooks'])

    def test_engine_in_use_is_named(self):
        rows, _ = section('engines')
        self.assertEqual([row['engine'] for row in rows
                          if row['state'] == 'in use'], ['sigsegv'])

    def test_engines_are_the_words_of_their_option(self):
        engines, _ = section('engines')
        options, _ = section('options')
        takes = next(row['takes'] for row in options
                     if row['option'] == 'ADSM_FAULT_ENGINE')
        self.assertEqual(['auto'] + [row['engine'] for row in engines],
                         takes.replace(' or ', ', ').split(', '))

    def test_auto_is_async_where_that_works(self):
        rows, _ = section('engines', ADSM_FAULT_ENGINE='auto')
        works = [row['engine'] for row in rows
                 if row['state'] != 'cannot run here']
        self.assertEqual([row['engine'] for row in rows
                          if row['state'] == 'in use'],
                         ['async' if 'async' in works else 'sigsegv'])

    def test_engine_that_cannot_run_says_why(self):
        able = {row['engine']: row['state'] for row in section('engines')[0]}
        if able['uffd'] == 'cannot run here':
            self.skipTest('uffd cannot run on this machine at all')
        # One descriptor is enough to load a library, and for the first step.
        run = subprocess.run(['prlimit', '--nofile=4', INFO, '--json',
                              '--engines'], check=True, text=True,
                             env={**PLAIN, 'ADSM_FAULT_ENGINE': 'uffd'},
                             capture_output=True, timeout=60)
        rows = json.loads(run.stdout)['engines']
        self.assertEqual([row['state'] for row in rows],
                         ['in use', 'cannot run here', 'cannot run here'])
        self.assertIn('cannot run here', rows[0]['why'])
        self.assertIn('descriptor', rows[2]['why'])

    def test_huge_pages_are_in_use_or_the_reason_is_said(self):
        row, = section('memory')[0]
        self.assertEqual(row['memory'], 'huge pages')
        self.assertIn(row['state'], ('in use', 'not in use'))
        off, = section('memory', ADSM_HUGE_PAGES='off')[0]
        self.assertEqual((off['state'], off['why']),
                         ('not in use', 'ADSM_HUGE_PAGES is off'))
        refused = subprocess.run(
            [sys.executable, '-c', THP_OFF, INFO, '--json', '--memory'],
            check=True, text=True, env=PLAIN, capture_output=True, timeout=60)
        row, = json.loads(refused.stdout)['memory']
        self.assertEqual(row['state'], 'not in use')
        self.assertIn('PR_SET_THP_DISABLE', row['why'])

    def test_hooks_are_the_names_the_preload_libraries_export(self):
        exported = set()
        for name in 'libadsm-preload.so', 'libadsm-mpi.so':
            names = subprocess.run(
                ['nm', '-D', '--defined-only', BUILD / 'interpose' / name],
                check=True, capture_output=True, text=True)
            exported |= {line.split()[-1].split('@')[0]
                         for line in names.stdout.splitlines()}
        rows, _ = section('hooks')
        self.assertGreater(len(rows), 50)
        self.assertEqual({row['symbol'] for row in rows} - exported, set())
        self.assertGreater(sum(row['kind'] == 'MPI' for row in rows), 100)

    def test_hooks_say_what_calls_do_with_memory(self):
        rows, _ = section('hooks')
        memory = {row['symbol']: row['memory'] for row in rows}
        self.assertEqual(memory['recvfrom'],
                         'fills 2, writes 5 (sized by 6), writes 6 (socklen_t)')
        self.assertEqual(memory['sendmsg'], 'reads what 2 (msghdr) lists')
        self.assertEqual(memory['cuCtxSynchronize'], '')

    def test_wrong_argument_is_refused(self):
        run = adsm_info('--device')
        self.assertEqual((run.returncode, run.stdout), (2, ''))
        self.assertIn("'--device'", run.stderr)


class Devices(unittest.TestCase):
    def test_software_devices_are_listed(self):
        rows, _ = section('devices', SOFTCUDA_DEVICES='3',
                          SOFTCUDA_MEMORY='64M', **SOFT)
        self.assertEqual([row['device'] for row in rows], [0, 1, 2])
        self.assertEqual({row['MiB'] for row in rows}, {64})
        self.assertTrue(all(0 < row['free MiB'] <= 64 for row in rows))
        self.assertTrue(all(row['model'] and row['why'] for row in rows))

    def test_forced_strategy_is_shown(self):
        for strategy in ('window', 'overlay', 'translate'):
            rows, _ = section('devices', ADSM_ADDRESS=strategy,
                              SOFTCUDA_MEMORY='64M', **SOFT)
            self.assertEqual([row['address'] for row in rows], [strategy])
            self.assertIn('ADSM_ADDRESS', rows[0]['why'])

    def test_chosen_devices_only(self):
        rows, _ = section('devices', SOFTCUDA_DEVICES='3', ADSM_DEVICES='2,0',
                          **SOFT)
        self.assertEqual(len(rows), 2)

    def test_no_driver_is_said_and_no_error(self):
        probe = [sys.executable, '-c',
                 'import ctypes; ctypes.CDLL("libcuda.so.1")']
        if subprocess.run(probe, check=False, capture_output=True, env=PLAIN
                          ).returncode == 0:
            self.skipTest('there is a CUDA driver here')
        run = adsm_info('--devices')
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stdout, r'(?m)^  none: .*libcuda\.so\.1')

    def test_under_adsm_run_it_sees_the_software_device(self):
        run = subprocess.run([BUILD / 'tools/adsm-run', '--soft', INFO,
                              '--devices'], text=True, capture_output=True,
                             check=False, timeout=60, env=PLAIN)
        self.assertEqual((run.returncode, run.stderr), (0, ''), run)
        self.assertRegex(run.stdout, r'(?m)^ +0  \S')


class Sharing(unittest.TestCase):
    def sharing(self, **extra):
        """Rows of device 0, by address: state and why."""
        rows, _ = section('sharing', **SOFT, **extra)
        self.assertEqual([(row['device'], row['when']) for row in rows],
                         [(0, 'at once'), (0, 'at the first touch')])
        return {row['address']: (row['state'], row['why']) for row in rows}

    def test_window_is_the_default_and_says_why(self):
        rows = self.sharing()
        self.assertEqual(rows['window'],
                         ('in force',
                          'the default, for adopt has run on no GPU yet'))
        self.assertEqual(rows['adopt'],
                         ('not in force', 'tried, it works: '
                                          'ADSM_ADDRESS=adopt asks for it'))

    def test_what_the_environment_asks_for_is_in_force(self):
        rows = self.sharing(ADSM_ADDRESS='adopt')
        self.assertEqual(rows['adopt'], ('in force', 'ADSM_ADDRESS asks for it'))
        self.assertEqual(rows['window'][0], 'not in force')
        rows = self.sharing(ADSM_ADDRESS='overlay')
        self.assertEqual(rows['overlay'],
                         ('in force', 'ADSM_ADDRESS asks for it'))
        self.assertEqual(rows['adopt'][0], 'not in force')

    def test_translate_shares_nothing(self):
        rows = self.sharing(ADSM_ADDRESS='translate')
        self.assertEqual(rows['translate'][0], 'cannot be had')
        self.assertEqual(rows['adopt'][0], 'not in force')

    def test_an_option_in_the_way_is_named(self):
        for option, value in (('ADSM_OVERSUBSCRIBE', '1'),
                              ('ADSM_FAULT_ENGINE', 'uffd')):
            rows = self.sharing(ADSM_ADDRESS='adopt', **{option: value})
            self.assertEqual(rows['adopt'][0], 'cannot be had')
            self.assertIn(value if value == 'uffd' else option,
                          rows['adopt'][1])
            self.assertEqual(rows['window'],
                             ('in force', 'ADSM_ADDRESS=adopt cannot be had'))

    def test_a_kernel_without_membarrier_is_named(self):
        run = subprocess.run([sys.executable, '-c', NO_MEMBARRIER, INFO,
                              '--json', '--sharing'], check=True, text=True,
                             env={**PLAIN, **SOFT}, capture_output=True,
                             timeout=60)
        row = json.loads(run.stdout)['sharing'][1]
        self.assertIn('membarrier', row['why'])
        self.assertEqual(row['state'],
                         'not in force' if os.uname().machine == 'x86_64'
                         else 'cannot be had')


class Models(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def models(self, **extra):
        rows, said = section('models', ADSM_MODELS=f'{self.folder}/', **extra)
        self.assertEqual(said, '')
        return rows

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def test_no_folder_is_said(self):
        for extra, why in (({'ADSM_MODELS': 'off'}, 'ADSM_MODELS is off'),
                           ({'ADSM_MODELS': f'{self.folder}/none'},
                            'no program has measured')):
            run = adsm_info('--models', **extra)
            self.assertEqual((run.returncode, run.stderr), (0, ''))
            self.assertIn(f'none: {why}', run.stdout)

    def test_what_is_in_files_is_shown(self):
        key = '89edc1b2a9b3d05d'
        self.write(f'{key}-here.txt',
                   f'libadsm model 1\nkernel saxpy\nkey {key}\n'
                   'machine of others\n'
                   '1 "A device" 4^6 spikes 7: 2.500000 3.500000 1.250000\n'
                   '0 "A device" 4^15 spikes 0: 0.000001\nend\n')
        self.write(f'{key}-there.txt', 'hello\n')
        self.write('notes.txt', 'hello\n')
        first, second, third = self.models()
        why = 'not used here: of of others'
        self.assertEqual(first, {
            'kernel': 'saxpy', 'key': key, 'device': '1: A device',
            'indices': '4K to 16K', 'samples': 3, 'ns/index': 2.5, 'spikes': 7,
            'why': why})
        self.assertEqual((second['indices'], second['ns/index']),
                         ('1G and more', 1e-6))
        self.assertEqual(third['why'],
                         f'not used: {key}-there.txt is no model')

    def test_what_a_program_measured_is_shown_and_used(self):
        program = BUILD / 'docs/examples/heat'
        env = {**PLAIN, **SOFT, 'SOFTCUDA_DEVICES': '2', 'SOFTCUDA_PACE': '100M/s',
               'ADSM_MODELS': f'{self.folder}/'}
        subprocess.run([program, EXAMPLES / 'heat.ptx'], env=env,
                       check=True, capture_output=True, timeout=60)
        rows = self.models()
        self.assertEqual({row['device'].split(',')[0] for row in rows},
                         {'0: softcuda device 0', '1: softcuda device 1'})
        for row in rows:
            self.assertEqual(row['why'], '')
            self.assertEqual((row['kernel'], row['indices']),
                             ('heat', '256K to 1M'))
            # 16, or fewer where the machine became busy meanwhile.
            self.assertIn(row['samples'], range(3, 17))
            self.assertGreaterEqual(row['ns/index'], 9.8)


class Links(unittest.TestCase):
    RATE = 200e6 / 2**30  # GiB/s of SOFTCUDA_LINK=200MB/s

    def links(self, **extra):
        rows, said = section('links', **{**SOFT, **extra})
        self.assertEqual(said, '')
        return {(row['from'], row['to']): row for row in rows}

    def expect(self, row, way, rate):
        self.assertEqual((row['way'], row['error']), (way, ''), row)
        self.assertGreater(row['us'], 0)
        self.assertLess(abs(row['GiB/s'] / rate - 1), 0.15, row)

    def throttled(self, peer, way, rate):
        """Other work on the machine takes from a rate: one time of five."""
        for left in reversed(range(5)):
            try:
                return self.throttled_once(peer, way, rate)
            except AssertionError:
                if not left:
                    raise

    def throttled_once(self, peer, way, rate):
        links = self.links(SOFTCUDA_DEVICES='2', SOFTCUDA_LINK='200MB/s',
                           SOFTCUDA_PEER=peer)
        self.assertEqual(len(links), 8)
        for device, other in (('0', '1'), ('1', '0')):
            self.expect(links['host', device], 'upload', self.RATE)
            self.expect(links[device, 'host'], 'download', self.RATE)
            self.expect(links[device, other], way, rate)
            self.assertEqual(links[device, device]['way'], 'within')
            # 4 KiB at that rate, and never less.
            self.assertGreater(links['host', device]['us'], 20.4)

    def test_rates_of_links_are_those_of_the_throttle(self):
        self.throttled('1', 'peer', self.RATE)

    def test_without_peers_bytes_pass_two_links(self):
        self.throttled('0', 'through host', self.RATE / 2)

    def test_small_devices_are_measured_with_what_they_have(self):
        links = self.links(SOFTCUDA_DEVICES='2', SOFTCUDA_MEMORY='4M')
        self.assertEqual({row['error'] for row in links.values()}, {''})
        self.assertEqual(len(links), 8)

    def test_matrices_show_what_json_has(self):
        out = adsm_info('--links', SOFTCUDA_DEVICES='2', SOFTCUDA_PEER='0',
                        **SOFT).stdout
        self.assertEqual(len(re.findall('(?m)^    device 1 ', out)), 3, out)
        self.assertRegex(out, r'(?m)^    device 0 +download +within +'
                              r'through host$')
        self.assertRegex(out, r'(?m)^    host +-( +[0-9.]+){2}$')

    def test_one_device_has_nobody_to_send_to(self):
        self.assertIn('only one device can be used: nothing goes from device '
                      'to device', adsm_info('--links', **SOFT).stdout)

    def test_it_is_measured_only_when_asked_for(self):
        self.assertNotIn('links', adsm_info('--json', **SOFT).stdout)

    def test_no_driver_is_said(self):
        run = adsm_info('--links', LD_LIBRARY_PATH=str(BUILD / 'libadsm'),
                        ADSM_DEVICES='0')
        if run.stdout.count('\n') > 5:
            self.skipTest('there is a CUDA driver here')
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stdout, r'(?m)^  none: no CUDA driver: ')

    @staticmethod
    def device(owner, number):
        """The process that is a software device of another one; None."""
        for path in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
            try:
                words = path.read_text().split('\0')
            except OSError:
                continue
            if words[:3] == ['softcuda-device', str(number), str(owner)]:
                return int(path.parent.name)
        return None

    def test_lost_device_is_said_once_and_the_other_measured(self):
        run = subprocess.Popen(
            [INFO, '--json', '--links'], text=True, stdout=subprocess.PIPE,
            env={**PLAIN, **SOFT, 'SOFTCUDA_DEVICES': '2',
                 'SOFTCUDA_LINK': '2MB/s'})
        deadline = time.monotonic() + 30
        while not (device := self.device(run.pid, 1)):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        time.sleep(0.5)  # at this rate measuring takes seconds
        os.kill(device, signal.SIGKILL)
        rows = json.loads(run.communicate(timeout=100)[0])['links']
        self.assertEqual(run.returncode, 0)
        errors = [row for row in rows if row['error']]
        self.assertEqual([row['to'] for row in errors], [''], rows)
        ways = {row['way'] for row in rows if row['from'] != errors[0]['from']}
        self.assertLessEqual({'upload', 'within'}, ways)


if __name__ == '__main__':
    suite.main()
