# Sourced after scripts/setup.bash by the scripts that have many steps, some of them beside others. They set `root`.

# step NAME
step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

# beside NAME COMMAND…: runs a step beside those that follow. What it prints goes to a file, which join_steps shows.
declare -a beside_processes=() beside_files=()
beside() {
    local file
    file=$(artefact_folder "$root")/${0##*/}-beside-${#beside_files[@]}.log
    # In a process group of its own, to be ended as a whole.
    set -m
    (
        step "$1"
        "${@:2}"
        step "End of: $1"
    ) </dev/null >"$file" 2>&1 &
    set +m
    beside_processes+=("$!")
    beside_files+=("$file")
}

# Ends the steps that run beside if this one fails.
end_beside() {
    local process
    for process in "${beside_processes[@]}"; do kill -- "-$process" 2>/dev/null || true; done
}
trap end_beside EXIT

# join_steps: waits for the steps that run beside; fails if one of them did.
join_steps() {
    local place failed=0
    for place in "${!beside_processes[@]}"; do
        wait "${beside_processes[$place]}" || failed=1
        cat "${beside_files[$place]}"
    done
    beside_processes=() beside_files=()
    ((failed == 0)) || fail "a step failed; see above" 1
}
