"""Facts of the machine. Nothing here can fail."""
import glob
import os
import re
import shutil
import subprocess


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ''
    return (done.stdout.splitlines() or [''])[0].strip()


def read(path):
    try:
        with open(path) as text:
            return text.read().strip()
    except OSError:
        return ''


def found(pattern, text):
    match = re.search(pattern, text, re.M)
    return match.group(1).strip() if match else ''


def nvcc():
    """The command, or ''."""
    usual = '/usr/local/cuda/bin/nvcc'
    return shutil.which('nvcc') or (usual if os.path.exists(usual) else '')


def nvcc_release():
    if not nvcc():
        return ''
    text = subprocess.run([nvcc(), '--version'], capture_output=True,
                          text=True, check=False).stdout
    return found(r'release ([0-9.]*)', text)


def gpu_says(what):
    return first_line('nvidia-smi', '--format=csv,noheader',
                      f'--query-gpu={what}')


def huge_pages():
    folder = '/sys/kernel/mm/transparent_hugepage/'
    return f'{read(folder + "enabled")}; shmem {read(folder + "shmem_enabled")}'


def boot_words():
    return ' '.join(word for word in read('/proc/cmdline').split()
                    if re.search('iommu|hugepage|pci|nvidia', word))


def device(build, env):
    """The first device's name, as the driver has it."""
    text = subprocess.run([f'{build}/tools/adsm-info', '--devices'], env=env,
                          capture_output=True, text=True, check=False).stdout
    name = found(r'^ *0  (.*\S) +\d+ +\d+  ', text)
    return name or 'unknown device'


def facts(device_name):
    """Pairs of what and here."""
    yield 'device', device_name
    yield 'driver module', found(r'^NVRM version: *(.*)',
                                 read('/proc/driver/nvidia/version'))
    yield 'driver', gpu_says('driver_version')
    yield 'device memory', gpu_says('memory.total')
    yield 'link', gpu_says('pcie.link.gen.max,pcie.link.width.max')
    yield 'device modes', gpu_says(
        'compute_mode,persistence_mode,mig.mode.current')
    yield 'toolkit', nvcc_release()
    yield 'C compiler', first_line('cc', '--version')
    yield 'system', found(r'^PRETTY_NAME="(.*)"', read('/etc/os-release'))
    yield 'kernel', first_line('uname', '-srm')
    yield 'C library', first_line('getconf', 'GNU_LIBC_VERSION')
    yield 'processor', found(r'^model name[^:]*: (.*)', read('/proc/cpuinfo'))
    yield 'cores', str(len(os.sched_getaffinity(0)))
    yield 'memory, GiB', str(round(os.sysconf('SC_PHYS_PAGES') *
                                   os.sysconf('SC_PAGE_SIZE') / 2**30))
    yield 'page size', str(os.sysconf('SC_PAGE_SIZE'))
    yield 'huge pages', huge_pages()
    yield 'IOMMU groups', str(len(glob.glob('/sys/kernel/iommu_groups/*')))
    yield 'boot options', boot_words()
    yield 'locked memory, KiB', first_line('sh', '-c', 'ulimit -l')
    yield 'vm.max_map_count', read('/proc/sys/vm/max_map_count')
    yield 'userfaultfd', read('/proc/sys/vm/unprivileged_userfaultfd')
    yield 'load average', ' '.join(read('/proc/loadavg').split()[:3])
