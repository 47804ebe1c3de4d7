# Completion of adsm-run, adsm-info, adsm-trace and adsm-bench for bash. What
# there is they are asked themselves, each time, so nothing has to be kept current
# here.

# _adsm_help TOOL: its options, one a line, with the word that stands for a value.
_adsm_help()
{
    "$1" --help 2>/dev/null |
        sed -nE 's/^  (--[a-z-]+)(=all|\[=[A-Z]+\]| [A-Z=]+| [a-z]+ )? .*/\1\2/p'
}

# _adsm_options TOOL: its variables, each with what it takes. adsm-info knows; it
# is looked for beside the tool.
_adsm_options()
{
    local info=adsm-info
    [[ $1 != */* || ! -x ${1%/*}/adsm-info ]] || info=${1%/*}/adsm-info
    env -i PATH="$PATH" "$info" --json --options 2>/dev/null |
        sed -nE 's/.*"option": "([A-Z_]+)".*"takes": "([^"]*)".*/\1 \2/p'
}

# _adsm_takes TOOL VARIABLE: the values, where these are words.
_adsm_takes()
{
    _adsm_options "$1" | sed -nE "s/^$2 ([a-z0-9]+(, [a-z0-9]+)* or [a-z0-9]+)$/\1/p" |
        sed 's/, / /g; s/ or / /'
}

# _adsm_listed TOOL FLAG: of adsm-bench, words of which FLAG takes a list.
_adsm_listed()
{
    "$1" --help 2>/dev/null | sed -n "/^  $2 /,/^  --/p" | sed "1s/.*list//;1!{/^  --/d}" |
        tr '\n' ' ' | sed 's/([^)]*)//g; s/;.*//; s/,/ /g'
}

# What the tool would see, up to the word that is being completed: readline cuts
# words at "=". _adsm_at says where each begins in COMP_WORDS.
_adsm_whole_words()
{
    local i join=
    _adsm_words=() _adsm_at=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        if [[ $join || ${COMP_WORDS[i]} == = ]] && ((i > 0)); then
            _adsm_words[${#_adsm_words[@]} - 1]+=${COMP_WORDS[i]}
        else
            _adsm_words+=("${COMP_WORDS[i]}")
            _adsm_at+=("$i")
        fi
        [[ ${COMP_WORDS[i]} == = ]] && join=yes || join=
    done
}

# _adsm_reply CURRENT WORD...: those that begin so.
_adsm_reply()
{
    local current=$1
    shift
    mapfile -t COMPREPLY < <(compgen -W "$*" -- "$current")
    [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}

# _adsm_value TOOL FLAG CURRENT: a value of that flag.
_adsm_value()
{
    local name=${2#--}
    name=${name//-/_}
    case $2 in
    --set)
        if [[ $3 == *=* ]]; then
            _adsm_value "$1" "--${3%%=*}" "${3#*=}"
        else
            _adsm_reply "$3" "$(_adsm_options "$1" | sed 's/ .*/=/')"
        fi
        ;;
    --form | --protocol)
        if [[ $1 == *adsm-bench ]]; then
            local before=
            [[ $3 != *,* ]] || before=${3%,*},
            _adsm_reply "$3" "$(_adsm_listed "$1" "$2" | tr -s ' ' '\n' |
                sed "/./s/^/$before/")"
            return
        fi
        _adsm_reply "$3" "$(_adsm_takes "$1" ADSM_PROTOCOL)"
        ;;
    *-file | --trace | --report | --plot | --input | --ADSM_TRACE | --ADSM_*_FILE)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$3")
        ;;
    --ADSM_*) _adsm_reply "$3" "$(_adsm_takes "$1" "${2#--}")" ;;
    *) _adsm_reply "$3" "$(_adsm_takes "$1" "ADSM_${name^^}")" ;;
    esac
}

# _adsm_program N: word N of COMP_WORDS is a program, of which the rest is.
_adsm_program()
{
    local kinds=-f
    ((COMP_CWORD > $1)) || kinds=-cf
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen $kinds -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}

# _adsm_trace TOOL: commands, and then what the one has that is there.
_adsm_trace()
{
    local help last=${_adsm_words[-1]} before=${_adsm_words[-2]}
    if ((${#_adsm_words[@]} == 2)); then
        help=$("$1" --help 2>/dev/null)
        if [[ $last == -* ]]; then
            _adsm_reply "$last" "$(sed -nE 's/^  (-h, )?(--[a-z]+) .*/\2/p' <<<"$help")"
        else
            _adsm_reply "$last" "$(sed -nE 's/^    ([a-z]+) .*/\1/p' <<<"$help")"
        fi
        return
    fi
    help=$("$1" "${_adsm_words[1]}" --help 2>/dev/null)
    if [[ $last == --*=* ]]; then
        before=${last%%=*} last=${last#*=}
    fi
    if grep -q -- "^  $before {" <<<"$help"; then
        _adsm_reply "$last" "$(sed -nE "s/^  $before \{(.*)\}.*/\1/p" <<<"$help" |
            tr , ' ')"
    elif [[ $last == -* ]]; then
        _adsm_reply "$last" "$(sed -nE 's/^  (-h, )?(--[a-z]+)( .*)?$/\2/p' <<<"$help")"
    elif [[ $before == --png ]] ||
        ! grep -qE -- "^  $before [A-Z]" <<<"$help"; then
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$last")
    fi
}

_adsm()
{
    local tool=$1 _adsm_words _adsm_at i takes flags last
    COMPREPLY=()
    tool=${tool/#\~/$HOME}
    _adsm_whole_words
    last=${_adsm_words[-1]}
    if [[ $tool == *adsm-trace ]]; then
        _adsm_trace "$tool"
        return
    fi
    flags=$(_adsm_help "$tool")
    # Flags whose value is the word behind them.
    takes=" $(sed -nE 's/^(--[a-z-]+) .*/\1/p' <<<"$flags" | tr '\n' ' ')"
    for ((i = 1; i < ${#_adsm_words[@]} - 1; i++)); do
        if [[ ${_adsm_words[i]} == -- ]]; then
            _adsm_program "${_adsm_at[i + 1]}"
            return
        elif [[ ${_adsm_words[i]} != -* && $tool == *adsm-run ]]; then
            _adsm_program "${_adsm_at[i]}"
            return
        elif [[ $takes == *" ${_adsm_words[i]} "* ]]; then
            if ((i == ${#_adsm_words[@]} - 2)); then
                _adsm_value "$tool" "${_adsm_words[i]}" "$last"
                return
            fi
            ((i++))
        fi
    done
    if [[ $last == --*=* && $last != --hooks=* ]]; then
        _adsm_value "$tool" "${last%%=*}" "${last#*=}"
    elif [[ $last == -* ]]; then
        _adsm_reply "$last" "$(sed -E 's/ .*//; s/\[=[A-Z]+\]//' <<<"$flags")"
    elif [[ $tool == *adsm-run ]]; then
        _adsm_program "${_adsm_at[-1]}"
    elif [[ $tool == *adsm-bench ]]; then
        _adsm_reply "$last" "$("$tool" --list 2>/dev/null | sed 's/ .*//')"
    fi
}
complete -F _adsm adsm-run adsm-info adsm-trace adsm-bench
