import Testing

@Suite("Moved by one file")
struct AliasTests {
    @Test("the program's names are the engine's")
    func names() {
        let types: [Any.Type] = [Operation.self, BlockOperation.self, OperationQueue.self, QualityOfService.self]
        #expect(types.allSatisfy { String(reflecting: $0).hasPrefix("OperationEngine.") })
    }
}
