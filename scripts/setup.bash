# Sourced by the scripts: checks and installs what they need from the system.

# Package.swift then uses the exact versions that the suite was checked with, including indirect dependencies.
export OPBENCH_EXACT_VERSIONS=1

# fail MESSAGE CODE
fail() {
    echo "${0##*/}: $1" >&2
    exit "$2"
}

# choose_build ROOT: sets allocator, peers and scratch, the folder of the build, by OPBENCH_ALLOCATOR and OPBENCH_PEERS.
choose_build() {
    allocator=${OPBENCH_ALLOCATOR:-jemalloc} peers=${OPBENCH_PEERS-} scratch=$1/.build
    case $peers in
        '') ;;
        1) scratch+=-peers ;;
        *) fail "OPBENCH_PEERS is '$peers'; allowed: 1, or nothing" 64 ;;
    esac
    case $allocator in
        jemalloc) ;;
        system) scratch+=-system ;;
        *) fail "OPBENCH_ALLOCATOR is '$allocator'; allowed: jemalloc (the default), system" 64 ;;
    esac
}

require_swift() {
    command -v swift >/dev/null || fail "no swift on PATH; see https://www.swift.org/install/linux/" 1
}

# swift_build WHAT ARGUMENT…: runs `swift build`, and shows on standard error what it builds, the steps and the elapsed
# time: in one line of a terminal, every half minute in a log, nothing if all is up to date. A failed build prints the
# diagnostics. SwiftPM itself never writes to a terminal, where it compiles with other options (-color-diagnostics) and
# so compiles everything again.
swift_build() {
    local what=$1 begun=$SECONDS next=0 shown='' state='' drawn='' line='' part
    local build_output process status=0 diagnostics=()
    shift
    local packages='^(Fetching|Fetched|Updating|Updated|Computing|Computed|Creating|Working) '
    local chatter='^(Build(ing)? |Compiling plugin |Downloading |Downloaded |\[[0-9]+/[0-9]+\] (Planning|Write) )'
    # SwiftPM prints a step when it is done.
    local step='^\[([0-9]+)/([0-9]+)\] '
    exec {build_output}< <(exec swift build "$@" 2>&1)
    process=$!
    while true; do
        # Fails at the end of the output, and with a status above 128 after a second without a whole line.
        if IFS= read -r -t 1 part <&"$build_output"; then
            line+=$part
            if [[ $line =~ $packages ]]; then state="fetching packages"
            elif [[ $line == "Another instance of SwiftPM"* ]]; then state="waiting for another build"
            elif [[ $line =~ $chatter ]]; then :
            elif [[ $line =~ $step ]]; then state="${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps done"
            else diagnostics+=("$line"); fi
            line=''
        elif (($? > 128)); then line+=$part
        else
            [[ -z $line$part ]] || diagnostics+=("$line$part")
            break
        fi
        [[ -n $state ]] || continue
        if [[ -z $shown ]]; then
            echo "${0##*/}: building $what" >&2
            shown=1 next=$((begun + build_interval))
        fi
        if [[ -t 2 ]]; then
            part="${0##*/}: $(time_text $((SECONDS - begun))), $state"
            [[ $part == "$drawn" ]] || printf '\r\e[2K%s' "${part:0:79}" >&2
            drawn=$part
        elif ((SECONDS >= next)); then
            echo "${0##*/}: $(time_text $((SECONDS - begun))), $state" >&2
            next=$((SECONDS + build_interval))
        fi
    done
    exec {build_output}<&-
    wait "$process" || status=$?
    [[ -z $shown || ! -t 2 ]] || printf '\r\e[2K' >&2
    if ((status != 0)); then
        ((${#diagnostics[@]} == 0)) || printf '%s\n' "${diagnostics[@]}" >&2
    elif [[ -n $shown ]]; then
        echo "${0##*/}: built in $(time_text $((SECONDS - begun)))" >&2
    fi
    return "$status"
}
# The seconds between two lines of a log.
build_interval=30

# time_text SECONDS
time_text() {
    local minutes=$(($1 / 60))
    ((minutes == 0)) || printf '%d min ' "$minutes"
    printf '%d s' $(($1 % 60))
}

require_python() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || fail "needs python3, 3.11 or later" 1
}

require_jemalloc() {
    [[ -e /usr/include/jemalloc/jemalloc.h ]] || pkg-config --exists jemalloc 2>/dev/null || install_packages libjemalloc-dev
}

# built_commit ROOT: the checked-out commit, ending in -dirty if the built sources differ from it; empty outside a
# repository. For OPBENCH_COMMIT.
built_commit() {
    local commit
    commit=$(git -C "$1" rev-parse --verify --quiet HEAD 2>/dev/null) || return 0
    [[ -z $(git -C "$1" status --porcelain -- Package.swift Sources 2>/dev/null) ]] || commit+=-dirty
    printf '%s' "$commit"
}

require_tbb() { [[ -e /usr/include/oneapi/tbb.h ]] || install_packages libtbb-dev; }

require_valgrind() {
    command -v valgrind >/dev/null || install_packages valgrind
}

# artefact_folder ROOT: the folder of a run's records and tables; created if missing.
artefact_folder() {
    local folder=${OPBENCH_ARTEFACTS:-$1/.build/artefacts}
    mkdir -p -- "$folder"
    readlink -f -- "$folder"
}

# record_tests FOLDER: makes the next test run write the files that scripts/docs --contract reads. Sets event_stream to
# the required options of `swift test`.
record_tests() {
    rm -f -- "$1/test-events.jsonl" "$1/contract-tests.jsonl"
    export OPBENCH_CONTRACT_TESTS=$1/contract-tests.jsonl
    event_stream=(--event-stream-version 0 --event-stream-output-path "$1/test-events.jsonl")
}

# asks_for_help ARGUMENT…: whether an argument asks for help. Help is printed before anything is built or installed.
asks_for_help() {
    local argument
    for argument in "$@"; do
        case $argument in --help | -h) return 0 ;; esac
    done
    return 1
}

# swift_text FILE NAME: the multi-line string literal NAME in the source, as the program prints it. It provides the help
# of programs that are not built yet, without a second copy.
swift_text() {
    awk -v start="$2 = \"\"\"" '
        begun && /^ *"""$/ {
            indent = index($0, "\"") - 1
            for (line = 1; line <= count; line++) print substr(lines[line], indent + 1)
            ended = 1
            exit
        }
        begun { lines[++count] = $0 }
        index($0, start) { begun = 1 }
        END { exit !ended }
    ' "$1" || fail "no text $2 in $1" 1
}

# script_text FILE: the comment at the beginning of a script, which is also its help.
script_text() { awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$1"; }

# install_packages NAME…: installs Debian packages as root or with passwordless sudo; otherwise prints the command.
install_packages() {
    local as_root=()
    if ((EUID != 0)); then
        if ! sudo --non-interactive true 2>/dev/null; then
            fail "needs Debian packages; run: sudo apt-get update && sudo apt-get install -y $*" 1
        fi
        as_root=(sudo --non-interactive)
    fi
    command -v apt-get >/dev/null || fail "no apt-get here; install by hand: $*" 1
    echo "${0##*/}: installing $*" >&2
    local log
    log=$(mktemp)
    if ! {
        "${as_root[@]}" apt-get update &&
            "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
    } >"$log" 2>&1 </dev/null; then
        cat -- "$log" >&2
        rm -f -- "$log"
        fail "could not install; run: sudo apt-get update && sudo apt-get install -y $*" 1
    fi
    rm -f -- "$log"
}

# make_venv FOLDER REQUIREMENTS…: creates a Python environment with exactly these requirements, again whenever a file
# changes. The files list everything that their packages need, in exact versions, so pip installs nothing else
# (--no-deps). `pip check` reports missing entries.
make_venv() {
    local folder=$1 wanted
    shift
    python3 -c 'import venv, ensurepip' 2>/dev/null || install_packages python3-venv
    wanted=$(python3 --version && cat -- "$@")
    [[ -e $folder/made-from && $(<"$folder/made-from") == "$wanted" ]] && return
    echo "${0##*/}: making $folder" >&2
    rm -rf -- "$folder"
    python3 -m venv "$folder"
    local requirements=()
    for file in "$@"; do requirements+=(--requirement "$file"); done
    # Packages that are never imported need no compilation.
    local pip=("$folder/bin/pip" --disable-pip-version-check) needs
    "${pip[@]}" install --no-compile --quiet --no-deps "${requirements[@]}" >&2
    needs=$("${pip[@]}" check) || fail "$* lack dependencies of their packages: $needs" 1
    printf '%s\n' "$wanted" >"$folder/made-from"
}
