#!/usr/bin/env python3
"""adsm-info as built: sections, JSON, sources of values, no driver at all.

test_info.py BUILD-ROOT
"""
import json
import os
import pathlib
import re
import resource
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


# What it keeps is nobody else's.
CACHE = tempfile.mkdtemp()
PLAIN['XDG_CACHE_HOME'] = CACHE
unittest.addModuleCleanup(shutil.rmtree, CACHE)


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
                                       'hooks', 'links', 'advice'])

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

    def kept(self, **extra):
        """What is shown where nothing is measured."""
        run = adsm_info('--json', **{**SOFT, **extra})
        self.assertEqual(run.returncode, 0, run)
        return json.loads(run.stdout)['links']

    def folder(self):
        """One for what is kept, for this case alone."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def test_what_was_measured_is_kept_by_what_the_devices_are(self):
        two = {'XDG_CACHE_HOME': self.folder(), 'SOFTCUDA_DEVICES': '2'}
        self.assertEqual(self.kept(**two), [])
        self.assertIn('adsm-info --links', adsm_info(**SOFT, **two).stdout)
        measured, _ = section('links', **SOFT, **two)
        self.assertEqual(self.kept(**two), measured)
        self.assertEqual(self.kept(**{**two, 'SOFTCUDA_DEVICES': '1'}), [])
        self.assertEqual(self.kept(**two, ADSM_DEVICES='1,0'), [])
        self.assertEqual(self.kept(**two, ADSM_MODELS='off'), [])
        self.assertIn(f'links, measured {measured[0]["measured"]}\n',
                      adsm_info(**SOFT, **two).stdout)
        self.assertRegex(measured[0]['measured'],
                         r'^\d{4}-\d\d-\d\d \d\d:\d\d$')

    def test_damaged_text_is_not_shown_and_measured_anew(self):
        folder = self.folder()
        measured, _ = section('links', **SOFT, XDG_CACHE_HOME=folder)
        path, = pathlib.Path(folder, 'libadsm').glob('links-*.txt')
        whole = path.read_text()
        rows = whole.index('host')
        for bad in (whole[:-4], whole[:rows], whole.replace('links 1', 'links 2'),
                    whole.replace('measured 2', 'measured x'), 'x' * 99999,
                    whole[:rows] + 'host 0 1.0"x 2.0 upload\nend\n',
                    whole[:rows] + 'host 0 1.0\nend\n',
                    whole.replace('host 0', 'host\0')):
            path.write_text(bad)
            self.assertEqual(self.kept(XDG_CACHE_HOME=folder), [], bad[:999])
            said = adsm_info(**SOFT, XDG_CACHE_HOME=folder).stdout
            self.assertIn('damaged', said[said.index('\nlinks'):], bad[:999])
        section('links', **SOFT, XDG_CACHE_HOME=folder)
        self.assertEqual(len(self.kept(XDG_CACHE_HOME=folder)), len(measured))

    def test_nothing_is_kept_where_models_are_not(self):
        for value in ('off', 'read'):
            folder = self.folder()
            section('links', **SOFT, XDG_CACHE_HOME=folder, ADSM_MODELS=value)
            self.assertEqual(os.listdir(folder), [])

    def test_folder_that_cannot_be_written_is_said(self):
        rows, said = section('links', **SOFT, ADSM_MODELS='/dev/null/x')
        self.assertGreater(len(rows), 0)
        self.assertEqual(said.count('\n'), 1)
        self.assertIn('cannot be written', said)

    def test_it_is_measured_only_when_asked_for(self):
        began = time.monotonic()
        adsm_info(**SOFT, SOFTCUDA_LINK='2MB/s', XDG_CACHE_HOME=self.folder())
        asked = time.monotonic()
        adsm_info('--links', **SOFT, SOFTCUDA_LINK='2MB/s',
                  XDG_CACHE_HOME=self.folder())
        self.assertLess(asked - began, (time.monotonic() - asked) / 2)

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


class Advice(unittest.TestCase):
    def advice(self, **extra):
        """Rows by what they are about."""
        rows, said = section('advice', **extra)
        self.assertEqual(said, '')
        return {row['what']: row for row in rows}

    def test_huge_pages_that_are_off(self):
        self.assertEqual(
            self.advice(ADSM_HUGE_PAGES='off')['huge pages']['command'],
            'unset ADSM_HUGE_PAGES')
        works = section('memory')[0][0]['state'] == 'in use'
        self.assertEqual('huge pages' in self.advice(), not works)

    def test_huge_pages_that_another_one_has_switched_off(self):
        run = subprocess.run([sys.executable, '-c', THP_OFF, INFO, '--json',
                              '--advice'], env=PLAIN, check=True, text=True,
                             capture_output=True, timeout=60)
        rows = {row['what']: row for row in json.loads(run.stdout)['advice']}
        self.assertIn('by who started it', rows['huge pages']['why'])

    def test_mappings_are_too_few_for_the_blocks_of_the_devices(self):
        limit = int(pathlib.Path('/proc/sys/vm/max_map_count').read_text())
        much = {**SOFT, 'SOFTCUDA_MEMORY': f'{(limit + 100) * 4}K',
                'ADSM_BLOCK_SIZE': '4K'}
        row = self.advice(**much)['mappings']
        self.assertIn(f'{limit} are possible', row['why'])
        better = re.fullmatch(r'sudo sysctl -w vm\.max_map_count=(\d+)',
                              row['command'])[1]
        self.assertGreater(int(better), limit + 4096)
        little = {**much, 'SOFTCUDA_MEMORY': f'{(limit - 8192) * 4}K'}
        self.assertNotIn('mappings', self.advice(**little))
        self.assertNotIn('mappings',
                         self.advice(**{**much, 'ADSM_BLOCK_SIZE': '256K'}))

    def test_locked_memory_that_the_driver_does_not_get(self):
        planted = BUILD / 'tests/drivers'
        if not (planted / 'libcuda.so.1').exists():
            self.skipTest('no driver with planted behaviour was built')
        def rows(limit, behaviour):
            run = subprocess.run(
                ['prlimit', f'--memlock={limit}', INFO, '--json', '--advice'],
                env={**PLAIN, 'LD_LIBRARY_PATH': str(planted),
                     'PLANTED': behaviour}, check=True, text=True,
                capture_output=True, timeout=60)
            return {row['what']: row for row in json.loads(run.stdout)['advice']}
        row = rows('65536:65536', 'register=2')['locked memory']
        self.assertIn('prlimit', row['command'])
        self.assertIn('64 KiB', row['why'])
        if resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] == \
                resource.RLIM_INFINITY:
            self.assertEqual(rows('65536:', 'register=2')
                             ['locked memory']['command'],
                             'ulimit -l unlimited')
            self.assertNotIn('locked memory', rows('unlimited', 'register=2'))
        self.assertNotIn('locked memory', rows('65536', 'registers'))

    def test_engine_that_works_and_is_not_asked_for(self):
        able = {row['engine']: row['state'] for row in section('engines')[0]}
        self.assertEqual('fault engine' in self.advice(),
                         able['async'] != 'cannot run here')
        for engine in ('auto', 'sigsegv'):
            self.assertNotIn('fault engine',
                             self.advice(ADSM_FAULT_ENGINE=engine))

    def test_userfaultfd_that_is_not_permitted(self):
        sysctl = pathlib.Path('/proc/sys/vm/unprivileged_userfaultfd')
        if os.geteuid() != 0 or not sysctl.exists() or \
                sysctl.read_text() != '0\n':
            self.skipTest('needs root, and a kernel that permits it to no other')
        run = subprocess.run(
            [INFO, '--json', '--advice', '--engines'], check=False, text=True,
            env={**PLAIN, 'ADSM_FAULT_ENGINE': 'uffd', 'ADSM_MODELS': 'off'},
            capture_output=True, timeout=60, user=65534, extra_groups=[])
        if run.returncode:
            self.skipTest('nobody may not run what was built here')
        whole = json.loads(run.stdout)
        rows = {row['what']: row for row in whole['advice']}
        self.assertEqual(rows['userfaultfd']['command'],
                         'sudo sysctl -w vm.unprivileged_userfaultfd=1')
        self.assertIn('asks for uffd: not permitted',
                      rows['fault engine']['why'])
        self.assertNotIn('userfaultfd', self.advice())

    def test_nothing_is_said_where_nothing_is_to_be_mended(self):
        if section('memory')[0][0]['state'] != 'in use':
            self.skipTest('there is something to be mended')
        run = adsm_info('--advice', ADSM_FAULT_ENGINE='auto', **SOFT)
        if 'userfaultfd' not in run.stdout:
            self.assertIn('none: nothing is to be mended here', run.stdout)


class Plot(unittest.TestCase):
    """Models of which all is known, and what gnuplot is told."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.models = self.folder / 'models'
        self.png = self.folder / 'plot.png'
        self.machine = subprocess.run(
            [sys.executable, '-c', 'import os, re\n'
             'found = re.search(r"model name\\s*: (.*)", '
             'open("/proc/cpuinfo").read())\n'
             'print(f"{os.uname().nodename}, '
             '{found[1] if found else os.uname().machine}")'],
            check=True, capture_output=True, text=True).stdout.strip()
        self.models.mkdir()

    def model(self, key, kernel, lines, machine=None):
        """A file: lines are of device, size and times."""
        text = [f'libadsm model 1\nkernel {kernel}\nkey {key:016x}\n'
                f'machine {machine or self.machine}\n']
        for device, size, times in lines:
            text.append(f'{device} "A GPU" 4^{size} spikes 0:'
                        + ''.join(f' {ns:.6f}' for ns in times) + '\n')
        name = f'{key:016x}-{os.uname().nodename}.txt'
        (self.models / name).write_text(''.join(text) + 'end\n')

    def plot(self, *words, **extra):
        """What gnuplot is told, on its way to the real one."""
        told = self.folder / 'told'
        real = shutil.which('gnuplot')
        between = self.folder / 'bin' / 'gnuplot'
        between.parent.mkdir(exist_ok=True)
        between.write_text(f'#!/bin/sh\ntee {told} | '
                           f'{real or "printf PNG-of-nobody"}\n')
        between.chmod(0o755)
        run = adsm_info('--models', '--plot', self.png, *words, **{
            'ADSM_MODELS': str(self.models), **extra,
            'PATH': f'{between.parent}:{os.environ["PATH"]}'})
        return run, told.read_text() if told.exists() else ''

    def test_fit_is_what_was_put_in(self):
        def times(size, launch, index):
            return [launch / (2 * 4 ** size) + index] * 5
        self.model(1, 'scale', [(d, size, times(size, 12000 + 3000 * d, 0.8 + d))
                                for d in (0, 1) for size in range(4, 14)])
        run, told = self.plot()
        self.assertEqual((run.returncode, run.stderr), (0, ''))
        self.assertIn("title '12 us + 0.8 ns an index'", told)
        self.assertIn("title '15 us + 1.8 ns an index'", told)
        self.assertIn('scale', run.stdout)
        if shutil.which('gnuplot'):
            self.assertEqual(self.png.read_bytes()[:4], b'\x89PNG')
            self.assertGreater(len(self.png.read_bytes()), 5000)

    def test_fit_has_no_time_below_nothing(self):
        self.model(1, 'falls', [(0, 5, [1.0]), (0, 6, [2.0]), (0, 7, [4.0])])
        self.assertRegex(self.plot()[1], r"title '0 us \+ [1-4][.\d]* ns an index'")
        self.model(1, 'rises', [(0, 5, [99.0]), (0, 6, [9.0]), (0, 7, [0.1])])
        self.assertRegex(self.plot()[1], r"title '[1-9][.\d]* us \+ 0 ns an index'")

    def test_one_size_has_points_and_no_fit(self):
        self.model(1, 'one', [(0, 5, [1.0, 2.0])])
        run, told = self.plot()
        self.assertEqual(run.returncode, 0)
        self.assertIn('\n2048 1\n2048 2\n', told)
        self.assertNotIn('ns an index', told)

    def test_others_machines_and_damaged_ones_are_left_out(self):
        self.model(1, 'mine', [(0, 5, [1.0])])
        self.model(2, 'theirs', [(0, 5, [1.0])], machine='another')
        (self.models / ('0' * 15 + '3-x.txt')).write_text('libadsm model 1\n')
        told = self.plot()[1]
        self.assertIn("set title 'mine'", told)
        self.assertEqual(told.count('set title'), 1)

    def test_name_is_a_text_whatever_is_in_it(self):
        self.model(1, "it's_`id`$x", [(0, 5, [1.0])])
        run, told = self.plot()
        self.assertEqual(run.returncode, 0)
        self.assertIn("set title 'it''s_`id`$x'", told)

    def test_no_more_than_a_picture_holds_and_that_is_said(self):
        for key in range(1, 16):
            self.model(key, f'k{key}', [(0, 5, [1.0])])
        run, told = self.plot()
        self.assertEqual(told.count('set title'), 12)
        self.assertIn('3 more are not', run.stderr)

    def test_no_picture_is_said_in_one_line(self):
        for extra in ({}, {'ADSM_MODELS': 'off'}):
            run, _ = self.plot(**extra)
            self.assertEqual(run.returncode, 1)
            self.assertEqual(run.stderr.count('\n'), 1, run.stderr)
        self.model(1, 'one', [(0, 5, [1.0])])
        self.png.mkdir()
        run, _ = self.plot()
        self.assertEqual(run.returncode, 1)
        self.assertIn('cannot write', run.stderr)
        run = adsm_info('--models', '--plot', self.folder / 'x.png',
                        ADSM_MODELS=str(self.models), PATH=str(self.folder))
        self.assertEqual(run.returncode, 1)
        self.assertIn('gnuplot-nox', run.stderr)
        self.assertFalse((self.folder / 'x.png').exists())

    def test_wrong_command_lines(self):
        for words in (['--plot', 'x'], ['--models', '--plot'],
                      ['--plot=x', '--links']):
            run = adsm_info(*words)
            self.assertEqual((run.returncode, run.stdout), (2, ''))
            self.assertEqual(run.stderr.count('\n'), 1)


if __name__ == '__main__':
    suite.main()
