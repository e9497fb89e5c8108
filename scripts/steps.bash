# Sourced after scripts/setup.bash by scripts with many steps, some of them in the background. They set `root`.

# step NAME
step() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }

# beside NAME COMMAND…: runs a step in the background. Its output goes to a file, which join_steps prints.
declare -a beside_processes=() beside_files=()
beside() {
    local file
    file=$(artefact_folder "$root")/${0##*/}-beside-${#beside_files[@]}.log
    # In its own process group, so that it can be ended as a whole.
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

# Ends the background steps if the script fails.
end_beside() {
    local process
    for process in "${beside_processes[@]}"; do kill -- "-$process" 2>/dev/null || true; done
}
trap end_beside EXIT

# join_steps: waits for the background steps; fails if one of them failed.
join_steps() {
    local place failed=0
    for place in "${!beside_processes[@]}"; do
        wait "${beside_processes[$place]}" || failed=1
        cat "${beside_files[$place]}"
    done
    beside_processes=() beside_files=()
    ((failed == 0)) || fail "a step failed; see above" 1
}
