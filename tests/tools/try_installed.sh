#!/bin/sh
# What a user does with an installed tree: ask, compile by pkg-config and by
# CMake, run on the software device.
#
#   try_installed.sh EXAMPLES    docs/examples of this version
#
# PATH, PKG_CONFIG_PATH and CMAKE_PREFIX_PATH say where the tree is, where that
# is not known by itself. Works in a folder of its own. What cannot be tried here
# is said in a line that begins with "skipped"; ends with 0 when all else works.
set -eu
examples=$(cd -- "$1" && pwd)
cc=${CC:-cc}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

have()
{
    command -v "$1" >/dev/null 2>&1 || { echo "skipped: $1 is missing"; false; }
}

# wants TEXT COMMAND...: it prints this line, and no other.
wants()
{
    wanted=$1
    shift
    got=$("$@") || { echo "failed: $*" >&2; exit 1; }
    [ "$got" = "$wanted" ] || {
        echo "failed: $*: '$got', not '$wanted'" >&2
        exit 1
    }
    echo "works: $*"
}

soft_devices()
{
    adsm-run --soft=2 adsm-info --devices | grep -c 'softcuda device'
}

traced_faults()
{
    adsm-trace summary first.trace | grep -c 'accesses that fault'
}

# A CUDA program, without the SDK: the CPU uses memory of the device.
cat >driver.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#define CALL(name, ...) (((int (*)())dlsym(cuda, #name))(__VA_ARGS__))
int main(void)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context;
    unsigned char *x;
    if (!cuda || CALL(cuInit, 0) ||
        CALL(cuDevicePrimaryCtxRetain, &context, 0) ||
        CALL(cuCtxSetCurrent, context) ||
        CALL(cuMemAlloc_v2, &x, (size_t)1 << 20) ||
        CALL(cuMemsetD8_v2, x, 7, (size_t)1 << 20))
        return 1;
    x[0]++;
    printf("%d %d\n", x[0], x[99999]);
    return 0;
}
END

sed 's,docs/examples/,,' "$examples/scale.c" >scale.c
cp "$examples/scale.cu" "$examples/scale.ptx" .

wants 2 soft_devices
$cc -w driver.c -ldl -o driver
wants '8 7' adsm-run --soft ./driver

if have pkg-config; then
    # Quoted as a shell reads it: the folder may have a space in its name.
    eval "$cc -Wall -Werror scale.c $(pkg-config --cflags --libs libadsm)" \
        -o by-pkg-config
    wants '3 2999997' adsm-run --soft ./by-pkg-config
fi
if have cmake; then
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10)
project(scale C)
find_package(adsm 0.1 REQUIRED)
add_executable(by-cmake scale.c)
target_link_libraries(by-cmake adsm::adsm)
END
    if ! { cmake -S . -B built && cmake --build built; } >cmake.log 2>&1; then
        cat cmake.log >&2
        exit 1
    fi
    wants '3 2999997' adsm-run --soft built/by-cmake
fi
if have "${CLANG:-clang}" && [ -x by-pkg-config ]; then
    rm scale.ptx
    adsm-ptx scale.cu scale.ptx
    cp by-pkg-config with-adsm-ptx
    wants '3 2999997' adsm-run --soft ./with-adsm-ptx
fi
if have python3; then
    wants adsm adsm-run --soft python3 -c 'import adsm; print(adsm.__name__)'
    adsm-run --soft --trace first.trace ./driver >/dev/null
    wants 1 traced_faults
fi
if have man; then
    for name in adsm-run.1 adsm-info.1 adsm-trace.1 adsm-ptx.1 libadsm.7 adsm.3 adsmAlloc.3; do
        if ! man "${name#*.}" "${name%.*}" >page 2>&1 ||
            [ "$(wc -l <page)" -lt 20 ]; then
            echo "failed: man ${name%.*}" >&2
            exit 1
        fi
    done
    echo "works: man"
fi
