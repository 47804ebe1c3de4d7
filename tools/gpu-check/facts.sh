# Step facts: what this machine is. Nothing here can fail.

# fact NAME COMMAND...: the first line it prints, where it prints one.
fact()
{
    name=$1
    shift
    value=$("$@" 2>/dev/null | head -n 1)
    [ -n "$value" ] || value='-'
    printf '  %-22s %s\n' "$name" "$value"
    printf '| %s | %s |\n' "$name" "$(printf '%s' "$value" | tr '|' '/')" \
        >>"$out/section.md"
    printf '{"step":"facts","fact":"%s","value":"%s"}\n' "$name" \
        "$(printf '%s' "$value" | json_text)" >>"$out/results.jsonl"
}

nvcc_here()
{
    command -v nvcc || ls /usr/local/cuda/bin/nvcc
}

nvcc_release()
{
    "$(nvcc_here)" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'
}

gpu_says()
{
    nvidia-smi --format=csv,noheader --query-gpu="$1"
}

processor()
{
    sed -n 's/^model name[^:]*: //p' /proc/cpuinfo
}

memory_gib()
{
    awk '/^MemTotal/ { printf "%.0f\n", $2 / 1048576 }' /proc/meminfo
}

iommu_groups()
{
    find /sys/kernel/iommu_groups -mindepth 1 -maxdepth 1 | wc -l
}

boot_words()
{
    tr ' ' '\n' </proc/cmdline | grep -E 'iommu|hugepage|pci|nvidia' | tr '\n' ' '
}

huge_pages()
{
    printf '%s; shmem %s\n' \
        "$(cat /sys/kernel/mm/transparent_hugepage/enabled)" \
        "$(cat /sys/kernel/mm/transparent_hugepage/shmem_enabled)"
}

step_facts()
{
    printf '| what | here |\n|---|---|\n' >>"$out/section.md"
    fact device record_device
    fact 'driver module' sed -n 's/^NVRM version: *//p' /proc/driver/nvidia/version
    fact 'driver' gpu_says driver_version
    fact 'device memory' gpu_says memory.total
    fact 'link' gpu_says pcie.link.gen.max,pcie.link.width.max
    fact 'device modes' gpu_says compute_mode,persistence_mode,mig.mode.current
    fact toolkit nvcc_release
    fact 'C compiler' cc --version
    fact system sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release
    fact kernel uname -srm
    fact 'C library' getconf GNU_LIBC_VERSION
    fact processor processor
    fact cores nproc
    fact 'memory, GiB' memory_gib
    fact 'page size' getconf PAGESIZE
    fact 'huge pages' huge_pages
    fact 'IOMMU groups' iommu_groups
    fact 'boot options' boot_words
    fact 'locked memory, KiB' sh -c 'ulimit -l'
    fact 'vm.max_map_count' cat /proc/sys/vm/max_map_count
    fact 'userfaultfd' cat /proc/sys/vm/unprivileged_userfaultfd
    fact 'load average' cut -d' ' -f1-3 /proc/loadavg
}
