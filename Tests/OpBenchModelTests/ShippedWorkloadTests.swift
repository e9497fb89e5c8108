import Foundation
import Testing

@testable import OpBenchModel

@Suite("The shipped workloads")
struct ShippedWorkloadTests {
    private func specs() throws -> [WorkloadSpec] { try WorkloadSpec.load(files: Fixtures.shipped.map(\.path)) }

    @Test("The default run: six files of five shapes, at most 20 cells together")
    func standard() throws {
        let specs = try WorkloadSpec.load(files: Fixtures.standard.map(\.path))
        #expect(specs.count == 6 && Set(specs.map(\.shape)).count == 5)
        #expect(specs.reduce(0) { $0 + $1.cells.count } <= 20)
    }

    @Test("Every shape has a file, every file is named after its workload and documented, every rule matches")
    func all() throws {
        let specs = try specs()
        #expect(Set(specs.map(\.shape)) == Set(Shape.allCases))
        #expect(specs.map { $0.name + ".json" } == Fixtures.shipped.map(\.lastPathComponent))
        #expect(specs.flatMap { $0.warnings() } == [])
        let text = try Fixtures.text(Fixtures.package.appending(path: "workloads/README.md"))
        let folders = [
            "": Fixtures.standard, "more/": Fixtures.more, "forms/": Fixtures.forms, "engine/": Fixtures.engine,
            "engine/growth/": Fixtures.growth,
        ]
        for file in folders.flatMap({ folder, files in files.map { folder + $0.lastPathComponent } }) {
            #expect(text.contains("| `\(file)` |"), "workloads/README.md has no \(file)")
        }
    }

    @Test("Every parameter has a value other than its default somewhere")
    func coverage() throws {
        var varied: Set<String> = []
        for spec in try specs() {
            let definition = ShapeDefinition.of(spec.shape)
            for (name, values) in spec.axes where values != [definition.parameter(named: name)?.defaultValue] {
                varied.insert(name)
            }
        }
        let all = Set(Shape.allCases.flatMap { ShapeDefinition.of($0).parameters.map(\.name) })
        #expect(all.subtracting(varied) == [])
    }

    @Test("The ratio's baseline, or a form of it, and the engine are in every file")
    func baseline() throws {
        for spec in try specs() {
            #expect(
                spec.backends.contains(.engine) && spec.backends.contains { $0.family == BackendID.dispatch.family })
        }
    }
}

@Suite("Definitions")
struct DefinitionTests {
    @Test("Every default is valid, every name is plain and unique", arguments: Shape.allCases)
    func definitions(shape: Shape) throws {
        let parameters = ShapeDefinition.of(shape).parameters
        #expect(Set(parameters.map(\.name)).count == parameters.count)
        for parameter in parameters {
            let node = JSONNode(file: "", path: "", value: parameter.defaultValue.json)
            #expect(try parameter.format.read(node) == parameter.defaultValue)
            #expect(!parameter.summary.isEmpty)
            #expect(parameter.name.allSatisfy { $0.isLowercase || $0 == "_" })
        }
        // A recording has work and limits of its own, and nothing is drawn.
        for common in ["work_ns", "max_concurrent", "seed", "body"] where shape != .replay {
            #expect(parameters.contains { $0.name == common })
        }
    }

    @Test("Backends are unique; the four plain ones support every shape")
    func backends() {
        #expect(Set(BackendID.known).count == BackendID.known.count)
        for backend in [BackendID.engine, .dispatch, .foundation, .serial] {
            #expect(BackendDefinition.of(backend)?.shapes == Set(Shape.allCases))
        }
        #expect(BackendDefinition.of(BackendID(rawValue: "gcd")) == nil)
    }
}
