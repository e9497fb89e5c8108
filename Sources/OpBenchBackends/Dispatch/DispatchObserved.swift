/// Closures that call their observers as their last act.
final class DispatchObserved: DispatchRound, @unchecked Sendable {
    override func work(_ operation: Int) -> @Sendable () -> Void {
        let count = plan.observers ?? 0
        guard count > 0 else { return super.work(operation) }
        let observers = (0..<count).map { _ in { @Sendable [body] in body.didNotice(operation) } }
        return { [body] in
            body.run(operation)
            for observer in observers { observer() }
        }
    }
}
