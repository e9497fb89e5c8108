import Foundation
import OpBenchAnalysis
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchCommand
@testable import OpBenchRunner

/// `opbench bisect`. The compiler is a script, and the change is a count, which has the same value in every try.
@Suite(.serialized)
struct BisectTests {
    /// A history after the commit `first`: programs with so many additional mallocs per operation; nil for commits that
    /// do not build, and a negative number for a program that is no opbench.
    private func history(_ allocations: [Int?]) async throws -> ScriptedRepository {
        let repository = try await ScriptedRepository()
        try repository.folder.write(
            """
            {"name": "w", "summary": "s", "shape": "independent", "parameters": {"items": 50, "work_ns": 0},
             "backends": ["serial"], "sample_kinds": ["memory"]}
            """, to: "w.json")
        for (number, count) in allocations.enumerated() {
            let build = count.map { $0 < 0 ? "cp /bin/true \"$1\"" : program(allocations: $0, in: repository) }
            try await repository.commit("commit-\(number + 1)", build: build ?? "exit 1")
        }
        return repository
    }

    /// A build whose program is the tested opbench with additional mallocs. While a file `hold-<mallocs>` exists, its
    /// samples never end.
    private func program(allocations: Int, in repository: ScriptedRepository) -> String {
        """
        cat > "$1" <<'PROGRAM'
        #!/bin/sh
        request=$(sed 's/"flavour"/"injectedAllocations":\(allocations),"flavour"/')
        cd "\(repository.tools.root)"
        if [ -n "$request" ] && [ -e hold-\(allocations) ]; then
            : > held
            exec sleep 1000
        fi
        exec \(OpBenchProcess.binary) "$@" <<END
        $request
        END
        PROGRAM
        echo "# $OPBENCH_COMMIT" >> "$1"
        chmod +x "$1"
        """
    }

    private func bisect(
        _ repository: ScriptedRepository, _ words: [String],
        during: @Sendable (Int32) async throws -> Void = { _ in }
    ) async throws -> OpBenchProcess.Finished {
        try await OpBenchProcess.run(
            ["bisect"] + words + ["--backend", "serial", "--no-progress", "--no-explain", "w.json"],
            in: repository.folder, environment: ["PATH": repository.path], during: during)
    }

    /// The commit of a tag, as reports name it.
    private func name(_ tag: String, _ repository: ScriptedRepository) async throws -> String {
        String(try await repository.git("rev-parse", "--short=10", tag).prefix(10))
    }

    /// The suspects: the lines between the first and the empty one.
    private func suspects(_ result: OpBenchProcess.Finished) -> [String] {
        result.output.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            .prefix { !$0.isEmpty }.map { String($0.dropFirst(2).prefix(10)) }
    }

    /// The last field of each step's line.
    private func verdicts(_ result: OpBenchProcess.Finished) -> [Substring] {
        result.output.split(separator: "\n").drop { !$0.hasPrefix("----") }.dropFirst()
            .compactMap { $0.split(separator: " ").last }
    }

    @Test("finds the commit, past one that does not build; a search that is done is read from its runs", .slow)
    func found() async throws {
        let repository = try await history([0, 0, 0, nil, 0, 9, 9, 9])
        let words = ["first..main", "--run-id", "one", "--markdown", "found.md"]
        let result = try await bisect(repository, words)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await suspects(result) == [name("commit-6", repository)])
        #expect(verdicts(result) == ["bad", "skipped", "good", "good", "bad", "confirmed"])
        let markdown = try repository.folder.read("found.md")
        #expect(try await markdown.contains(name("commit-6", repository)))
        let runs = try FileManager.default.contentsOfDirectory(atPath: repository.folder.root + "/results").sorted()
        #expect(runs.map { $0.prefix(6) } == ["one-0-", "one-2-", "one-3-", "one-4-", "one-5-"])
        let confirmed = try await "one-5-\(name("commit-6", repository))"
        #expect(result.errors.contains(confirmed))
        let before = try repository.folder.states("results/\(confirmed)")
        let builds = repository.builds()
        let again = try await bisect(repository, words + ["--resume"])
        #expect(again.status == 0 && again.output == result.output, "\(again.errors)")
        #expect(try repository.folder.states("results/\(confirmed)") == before)
        #expect(repository.builds() == builds + 1, "only the commit that does not build is built again")
        #expect(try await bisect(repository, words).status == 64, "there is such a run")
    }

    @Test("between skipped commits a range remains, and its exit code says that it is not decided", .slow)
    func range() async throws {
        let repository = try await history([0, nil, -1, 9])
        let result = try await bisect(repository, ["first..main"])
        #expect(result.status == 7, "\(result.errors)")
        let names = try await [2, 3, 4].asyncMap { try await name("commit-\($0)", repository) }
        #expect(suspects(result) == names)
        #expect(verdicts(result).last == "confirmed")
    }

    @Test("without a regression there is nothing to search", .slow)
    func nothing() async throws {
        let repository = try await history([0, 9, 0])
        let result = try await bisect(repository, ["first..main", "--run-id", "none"])
        #expect(result.status == 0, "\(result.errors)")
        let runs = try FileManager.default.contentsOfDirectory(atPath: repository.folder.root + "/results")
        #expect(runs.count == 1)
        #expect(repository.builds() == 2)
        // A commit alone has no other suspect, and its only run has shown the change.
        let one = try await bisect(repository, ["commit-1..commit-2", "--figure", "allocations"])
        #expect(one.status == 0, "\(one.errors)")
        #expect(try await suspects(one) == [name("commit-2", repository)] && verdicts(one) == ["bad"])
    }

    @Test("an interrupted search continues where it was", .slow)
    func interruption() async throws {
        let repository = try await history([1, 1, 9])
        let tools = repository.tools.root
        // The ends have other numbers, so the first step is interrupted.
        try repository.tools.write("", to: "hold-1")
        let result = try await bisect(repository, ["first..main", "--run-id", "two"]) { process in
            #expect(await eventuallyTrue("a sample is in flight") { access(tools + "/held", F_OK) == 0 })
            kill(process, SIGINT)
        }
        #expect(result.status == 130, "\(result.errors)")
        #expect(result.errors.contains(" bisect --resume first..main "))
        try FileManager.default.removeItem(atPath: tools + "/hold-1")
        let again = try await bisect(repository, ["first..main", "--run-id", "two", "--resume"])
        #expect(again.status == 0, "\(again.errors)")
        #expect(try await suspects(again) == [name("commit-3", repository)])
    }

    @Test("a search that is interrupted in its first build is repeated, since there is nothing to resume", .slow)
    func interruptedBuild() async throws {
        let repository = try await history([])
        let tools = repository.tools.root
        let hold = "if [ -e \(tools)/hold ]; then : > \(tools)/held; exec sleep 1000; fi\n"
        try await repository.commit("slower", build: hold + program(allocations: 9, in: repository))
        try repository.tools.write("", to: "hold")
        let words = ["first..main", "--run-id", "two"]
        let result = try await bisect(repository, words) { process in
            #expect(await eventuallyTrue("a build is in progress") { access(tools + "/held", F_OK) == 0 })
            kill(process, SIGINT)
        }
        #expect(result.status == 130 && !result.errors.contains("--resume"), "\(result.errors)")
        try FileManager.default.removeItem(atPath: tools + "/hold")
        let again = try await bisect(repository, words)
        #expect(again.status == 0, "\(again.errors)")
        #expect(try await suspects(again) == [name("slower", repository)])
    }

    @Test("every step has layouts of both commits", .slow)
    func layouts() async throws {
        let repository = try await history([0, 9])
        let result = try await bisect(repository, ["first..main", "--run-id", "moved", "--layouts", "15"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await suspects(result) == [name("commit-2", repository)])
        // Of each of three commits the linker's own and 15 others, which no two sides share.
        let kept = repository.kept()
        #expect(kept.count { !$0.contains("-layout") } == 3 && kept.count { $0.contains("-layout") } >= 45)
        for run in try FileManager.default.contentsOfDirectory(atPath: repository.folder.root + "/results") {
            let rows = try CSVFile.read(
                SampleRow.self, file: "\(repository.folder.root)/results/\(run)/samples.csv")
            let layouts = Dictionary(grouping: rows, by: \.side).mapValues { Set($0.compactMap(\.layout)) }
            #expect(layouts["base"]?.isDisjoint(with: layouts["head"] ?? []) == true && layouts["head"] != [])
        }
    }

    /// The end of a search that no commit confirms.
    ///
    /// - Parameter middle: the ratio of the commit in the middle to the good end.
    private func unconfirmed(middle: Double) throws -> BisectReport {
        func commit(_ number: Int) -> PackageCommit {
            PackageCommit(ref: number == 0 ? "good" : "c\(number)", id: String(repeating: String(number), count: 40))
        }
        func row(_ ratio: Double, _ verdict: Verdict) -> CompareRow {
            var row = CompareRow(
                FigureName(cellID: "w", backend: .engine, metric: "cpu_time", phase: "total", stat: "total"),
                verdict: verdict)
            (row.ratio, row.ratioLow, row.ratioHigh) = (ratio, ratio - 0.01, ratio + 0.01)
            row.blocks = 40
            return row
        }
        let history = CommitHistory(
            repository: PackageRepository(package: "", prefix: ""), good: commit(0),
            others: (1...4).map {
                DescribedCommit(commit: commit($0), authorDate: "2026-11-2\($0)", subject: "commit \($0)")
            })
        let change = try #require(SearchedChange(in: [row(1.21, .regression)]))
        func step(_ base: Int, _ head: Int, _ ratio: Double, isCheck: Bool = false) -> BisectRun.Step {
            BisectRun.Step(
                base: commit(base), head: commit(head), judged: change.judged(by: [row(ratio, .inconclusive)]),
                isCheck: isCheck)
        }
        return BisectReport(
            BisectRun.Found(suspects: 1...4, isConfirmed: false, folder: ""), change,
            steps: [step(0, 4, 1.21), step(0, 2, middle), step(0, 1, 1), step(1, 2, 1.1, isCheck: true)], history)
    }

    @Test("a search that finds half of the change in the middle says that there may be two steps of equal size")
    func twoSteps() throws {
        let report = try unconfirmed(middle: 1.1)
        Golden("bisect").expect(report.text(width: nil) + "\n" + report.markdown, "two steps")
        func lines(middle: Double) throws -> Int {
            try unconfirmed(middle: middle).text(width: nil).split(separator: "\n").count
        }
        #expect(try lines(middle: 1.02) == lines(middle: 1.1) - 1 && lines(middle: 1.19) == lines(middle: 1.02))
    }

    @Test("what is no history is rejected before anything is built")
    func mistakes() async throws {
        let repository = try await history([0, 0])
        try await repository.git("checkout", "--quiet", "-b", "side", "first")
        try await repository.commit("aside", build: repository.program())
        try await repository.git("checkout", "--quiet", "main")
        try await repository.git("merge", "--quiet", "--strategy", "ours", "--message", "merge", "side")
        var text = ""
        func expectRefusal(of words: String...) async throws {
            let result = try await bisect(repository, words)
            #expect(result.status == 64 && result.output == "", "\(words): \(result.errors)")
            // The folder's name may have ten digits in a row, too.
            text += result.errors.replacing(repository.folder.root, with: "FOLDER")
                .replacing(/[0-9a-f]{10}/, with: "COMMIT")
        }
        try await expectRefusal(of: "first")
        try await expectRefusal(of: "first...main")
        try await expectRefusal(of: "..main")
        try await expectRefusal(of: "frist..main")
        try await expectRefusal(of: "main..first")
        try await expectRefusal(of: "side..main")
        try await expectRefusal(of: "first..", "--blocks", "14")
        try await expectRefusal(of: "first..", "--quick")
        try await expectRefusal(of: "first..", "--threshold", "11")
        try await expectRefusal(of: "first..", "--figure", "cpu_tim")
        try await expectRefusal(of: "first..", "--cell", "other")
        let rule = #"{"metric": "allocations", "max_regression": 0.1, "min_blocks": MOST}"#
        for most in ["20", "100"] {
            try repository.folder.write(
                "{\"version\": 1, \"rules\": [\(rule.replacing("MOST", with: most))]}", to: "policy.json")
            try await expectRefusal(of: "first..", "--layouts", "15", "--policy", "policy.json")
        }
        try await expectRefusal(of: "first..", "--run-id", String(repeating: "x", count: 90))
        Golden("bisect").expect(text, "mistakes")
        #expect(repository.builds() == 0 && !repository.folder.contents().contains("results"))
    }
}

extension Sequence {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
