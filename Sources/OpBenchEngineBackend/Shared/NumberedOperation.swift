import OpBenchBackends
import OpBenchModel

/// An operation that is a number of the plan.
final class NumberedOperation: Operation, @unchecked Sendable {
    private let number: Int
    private let body: OperationBody

    init(_ number: Int, _ body: OperationBody) {
        self.number = number
        self.body = body
    }

    override func main() { body.run(number) }
}
