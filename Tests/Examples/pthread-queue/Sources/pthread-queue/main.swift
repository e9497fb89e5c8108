import OpBenchKit

extension ThreadQueue: SuspendableQueue, BarrierQueue {
    func submit(_ work: @escaping Work) { enqueue(work) }
    func submitBarrier(_ work: @escaping Work) { enqueue(work) }
}

let mine = Backend("mine", "One thread and a lock.", limits: 1...1, guarantees: [.limit, .suspension]) { _ in
    ThreadQueue()
}
OpBenchMain.run(backends: [mine], bodies: [checksum])
