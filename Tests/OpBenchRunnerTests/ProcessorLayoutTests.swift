import Foundation
import OpBenchLaunch
import OpBenchModel
import TestSupport
import Testing

@testable import OpBenchRunner

/// A made-up machine, with its files under /sys/devices/system.
struct MadeUpMachine {
    /// The files' contents by path within the folder.
    var files: [String: String]
    var allowed: String

    func read() throws -> ProcessorLayout {
        let folder = try Fixture.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (path, text) in files {
            let file = URL(fileURLWithPath: "\(folder)/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("\(text)\n".utf8).write(to: file)
        }
        return ProcessorLayout.read(in: folder, allowed: ProcessorSet(allowed))
    }

    /// - Parameters:
    ///   - online: the text of `cpu/online`.
    ///   - cores: the threads of each core.
    ///   - nodes: the processors of each node.
    init(online: String, cores: [String], nodes: [String], allowed: String? = nil, more: [String: String] = [:]) {
        files = more
        files["cpu/online"] = online
        for core in cores {
            for processor in ProcessorSet(core)?.numbers ?? [] {
                files["cpu/cpu\(processor)/topology/thread_siblings_list"] = core
            }
        }
        if !nodes.isEmpty { files["node/has_cpu"] = "0-\(nodes.count - 1)" }
        for (number, node) in nodes.enumerated() { files["node/node\(number)/cpulist"] = node }
        self.allowed = allowed ?? online
    }

    static let oneCore = MadeUpMachine(online: "0", cores: ["0"], nodes: ["0"])
    static let twoCoresSMT = MadeUpMachine(online: "0-3", cores: ["0,2", "1,3"], nodes: ["0-3"])
    /// 64 cores with two threads each.
    static let twoNodes = MadeUpMachine(
        online: "0-127", cores: (0..<64).map { "\($0),\($0 + 64)" }, nodes: ["0-31,64-95", "32-63,96-127"])
    /// Processes do not get isolated processors by default.
    static let isolated = MadeUpMachine(
        online: "0-7", cores: (0..<8).map(String.init), nodes: ["0-7"], allowed: "0-5",
        more: ["cpu/isolated": "6-7", "cpu/nohz_full": "4-7"])
    /// As in a container without such files.
    static let silent = MadeUpMachine(online: "", cores: [], nodes: [], allowed: "0-1,5")
}

@Suite struct ProcessorLayoutTests {
    @Test func `cores, nodes and isolated processors are read`() throws {
        let large = try MadeUpMachine.twoNodes.read()
        #expect(large.online.count == 128 && large.cores.count == 64 && large.cores[5] == ProcessorSet([5, 69]))
        #expect(large.nodes.map(\.number) == [0, 1])
        #expect(large.nodes(of: ProcessorSet("0-3,33")!).map(\.processors.description) == ["0-3", "33"])
        #expect(large.coreCount(of: ProcessorSet("0,64,1")!) == 2)
        let isolated = try MadeUpMachine.isolated.read()
        #expect("\(isolated.isolated) \(isolated.tickless)" == "6-7 4-7")
        #expect(isolated.usable == isolated.online && isolated.allowed == ProcessorSet("0-5"))
        // A sibling that is offline does not count.
        var half = MadeUpMachine.twoCoresSMT
        half.files["cpu/online"] = "0-2"
        #expect(try half.read().cores.map(\.description) == ["0,2", "1"])
        // Kernels write this for an empty list.
        half.files["cpu/nohz_full"] = "  (null)"
        #expect(try half.read().tickless.isEmpty)
    }

    @Test func `on a machine without these files, only the process's own processors are known`() throws {
        let silent = try MadeUpMachine.silent.read()
        #expect(silent.online == ProcessorSet([0, 1, 5]) && silent.cores.count == 3)
        #expect(silent.nodes == [.init(number: 0, processors: silent.online)])
        #expect(silent.choice() == nil)
    }

    @Test func `one thread per core, one node, within the quota, and nothing isolated`() throws {
        var lines: [String] = []
        /// Returns the choice with the start of its explanation.
        func choice(_ machine: MadeUpMachine, quota: Double? = nil) throws -> String? {
            guard let words = try machine.read().choice(quota: quota)?.words else { return nil }
            lines.append(words)
            return String(words.prefix { $0 != ":" })
        }
        #expect(try choice(.oneCore) == nil)
        #expect(try choice(.oneCore, quota: 0.5) == nil)
        #expect(try choice(.twoCoresSMT) == "--cpus 0-1")
        #expect(try choice(.twoCoresSMT, quota: 1.5) == "--cpus 0")
        var one = MadeUpMachine(online: "0-15", cores: (0..<8).map { "\($0 * 2)-\($0 * 2 + 1)" }, nodes: ["0-15"])
        #expect(try choice(one) == "--cpus 2,4,6,8,10,12,14")
        // The larger node is not the first.
        #expect(try choice(.twoNodes) == "--cpus 32-63")
        one.allowed = "4-7"
        #expect(try choice(one) == "--cpus 4,6")
        var plain = MadeUpMachine.isolated
        #expect(try choice(plain) == nil)
        plain.allowed = "0-7"
        #expect(try choice(plain) == "--cpus 1-5")
        plain.allowed = "6-7"
        #expect(try choice(plain) == nil)
        Golden("processor-choice").expect(lines.joined(separator: "\n"), "reasons")
    }

    @Test func `this machine has the processors that the test's process runs on`() {
        let here = ProcessorLayout.here
        #expect(!here.allowed.isEmpty && here.allowed.subtracting(here.online).isEmpty)
        #expect(here.cores.reduce(into: []) { $0 += $1.numbers }.sorted() == here.online.numbers)
        #expect(!here.nodes.isEmpty)
    }
}

@Suite struct SampleLimitsTests {
    private let golden = Golden("sample-limits")

    private func refusal(_ list: String, on machine: MadeUpMachine) throws -> InputError? {
        let (limits, layout) = (SampleLimits(processors: ProcessorSet(list)), try machine.read())
        do {
            try limits.check(on: layout)
            return nil
        } catch {
            return error
        }
    }

    @Test func `missing or disallowed processors are rejected by name`() throws {
        var narrow = MadeUpMachine.twoNodes
        narrow.allowed = "0-31"
        let errors = try [refusal("1,3-5", on: .twoCoresSMT), refusal("31-32", on: narrow)].compactMap(\.self)
        #expect(errors.map(\.file) == ["--cpus", "--cpus"])
        golden.expect(errors.map(\.description).joined(separator: "\n"), "processors not there, not allowed")
        #expect(try refusal("0-127", on: .twoNodes) == nil)
        // Processes do not get these by default, but may request them.
        #expect(try refusal("6", on: .isolated) == nil)
    }

    @Test func `several isolated processors cause a warning`() throws {
        let machine = try MadeUpMachine.isolated.read()
        #expect(SampleLimits(processors: ProcessorSet("5-7")).warnings(on: machine).count == 1)
        #expect(SampleLimits(processors: ProcessorSet("7")).warnings(on: machine).isEmpty)
        #expect(SampleLimits(processors: ProcessorSet("0-5")).warnings(on: machine).isEmpty)
        #expect(SampleLimits().warnings(on: machine).isEmpty)
    }

    @Test func `a part of a machine is a separate class of host`() throws {
        func end(_ asked: String?, on machine: MadeUpMachine) throws -> String {
            ProcessorFacts.restriction(to: asked.flatMap { ProcessorSet($0) }, on: try machine.read())
        }
        #expect(try end(nil, on: .twoNodes) == "")
        #expect(try end("0-127", on: .twoNodes) == "")
        #expect(try end("0-3", on: .twoNodes).contains("0-3"))
        var narrow = MadeUpMachine.twoNodes
        narrow.allowed = "8-15"
        let (all, one) = (try end(nil, on: narrow), try end("8", on: narrow))
        #expect(all.contains("8") && one.contains("8") && all != one)
        let facts = try #require(ProcessorFacts(of: ProcessorSet("0-1,32,64")!, on: MadeUpMachine.twoNodes.read()))
        #expect(facts.words.hasPrefix("0-1,32,64"))
        #expect(facts.nodes == ["0": ProcessorSet("0-1,64")!, "1": ProcessorSet("32")!])
    }

    @Test func `a run with other limits is a different run`() {
        let limits = SampleLimits(processors: ProcessorSet("0-3"))
        #expect(limits.difference(from: limits) == nil)
        let differences = [
            limits.difference(from: SampleLimits()), SampleLimits().difference(from: limits),
        ].compactMap(\.self)
        #expect(differences.count == 2)
        golden.expect(differences.joined(separator: "\n"), "other limits")
    }

    @Test func `without limits, nothing precedes the sample's program`() {
        #expect(LimitedProgram.launcher(for: SampleLimits()) == [])
        #expect(
            LimitedProgram.launcher(for: SampleLimits(processors: ProcessorSet("1,0"))).dropFirst(2) == ["0-1"])
    }
}
