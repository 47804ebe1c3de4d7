# What scripts that measure and draw a page of figures do; sourced by them.

# figures_make SCRIPT PAGE PREFIX WORD...: run the programs named PREFIX*.py
# here, for PAGE.json, PAGE.md and pictures beside it. The script's words are
# --quick, --draw, --only BENCH, and a build folder; its head is its help.
figures_make()
{
    script=$(basename -- "$1")
    page=$2 prefix=$3
    cd "$(CDPATH='' cd -- "$(dirname -- "$1")/.." && pwd)"
    shift 3
    . tools/lib/packages.sh

    mode=full build=build only=
    while [ $# -gt 0 ]; do
        case $1 in
        --quick | --draw) mode=${1#--} ;;
        --only) only=${2:?--only needs the name of a bench}; shift ;;
        -*) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "bench/$script"
            case $1 in --help | -h) exit 0 ;; *) exit 2 ;; esac ;;
        *) build=$1 ;;
        esac
        shift
    done

    packages_install figures
    if [ "$mode" != draw ]; then
        [ -f "$build/build.ninja" ] ||
            meson setup "$build" --buildtype=release >/dev/null
        ninja -C "$build" programs >/dev/null
        python3 "bench/figures/${prefix}measure.py" "$mode" "$build" \
            "$page.json" ${only:+"$only"}
    fi
    python3 "bench/figures/${prefix}tables.py" "$page.json" "$page.md"
    python3 "bench/figures/${prefix}plots.py" "$page.json" "$(dirname "$page")"
}
