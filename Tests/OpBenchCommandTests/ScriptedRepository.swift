import Foundation
import OpBenchLaunch
import TestSupport
import Testing

/// A package in a git repository, in whose commits `build.sh` makes the program.
final class ScriptedRepository: Sendable {
    let folder: ScratchFolder
    let tools: ScratchFolder

    init() async throws {
        (folder, tools) = (try ScratchFolder(), try ScratchFolder())
        ExecutableFile.writeScript(
            """
            if [ "$1" = --version ]; then echo "a compiler, version $(cat "$(dirname "$0")/version")"; exit; fi
            if [ "$1" = package ]; then
                # A manifest lists the paths of the packages that it takes, a line each, and perhaps a product.
                separator= product=
                echo 'a warning' >&2
                printf '{"dependencies": ['
                while read -r path name; do
                    if [ "$path" = product ]; then product=$name; continue; fi
                    printf '%s{"fileSystem": [{"path": "%s"}]}' "$separator" "$(realpath -s -m "$3/$path")"
                    separator=,
                done < "$3/Package.swift"
                echo ']'
                [ -z "$product" ] ||
                    printf ', "products": [{"name": "%s", "type": {"executable": null}}], "targets": []' "$product"
                echo '}'
                exit
            fi
            while [ $# -gt 0 ]; do
                case $1 in
                    --package-path) package=$2; shift;;
                    --scratch-path) scratch=$2; shift;;
                    --product) product=$2; shift;;
                    --show-bin-path) echo "$scratch/bin"; exit;;
                esac
                shift
            done
            mkdir -p "$scratch/bin"
            head -n 1 "$package/build.sh" >> "$(dirname "$0")/built"
            cd "$package" && exec sh build.sh "$scratch/bin/$product"
            """, to: tools.root + "/swift")
        try tools.write("1", to: "version")
        try await git("init", "--quiet", "--initial-branch=main")
        try folder.write(".build/\nresults/\n", to: ".gitignore")
        try folder.write("", to: "Package.swift")
        try folder.write(
            """
            {"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": 50, "work_ns": 0},
             "backends": ["engine"], "sample_kinds": ["throughput"]}
            """, to: "w.json")
        try await commit("first", build: program())
    }

    /// A build whose program is the tested opbench, with the name of its commit.
    func program(_ remark: String = "") -> String {
        """
        printf '#!/bin/sh\\n# %s \(remark)\\nexec \(OpBenchProcess.binary) "$@"\\n' "$OPBENCH_COMMIT" > "$1"
        chmod +x "$1"
        """
    }

    func commit(_ name: String, build: String) async throws {
        try folder.write("# \(name)\n\(build)\n", to: "build.sh")
        try await git("add", "--all")
        try await git("commit", "--quiet", "--message", name)
        try await git("tag", name)
    }

    /// Returns what git prints.
    @discardableResult
    func git(_ words: String...) async throws -> String {
        let settings = ["-C", folder.root, "-c", "user.name=test", "-c", "user.email=test@localhost"]
        let ended = try await Program("git", settings + words).printed(errorLimit: 1 << 16)
        try #require(ended.isSuccess, "\(ended.errors)")
        return ended.text
    }

    /// The built commits in order, each as the first line of its `build.sh`.
    func built() -> [Substring] { (try? tools.read("built"))?.split(separator: "\n") ?? [] }
    func builds() -> Int { built().count }

    var path: String { "\(tools.root):\(ProcessInfo.processInfo.environment["PATH"] ?? "")" }

    /// The files kept for commits.
    func kept() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.root + "/.build/refs/programs"))?.sorted()
            ?? []
    }
}
