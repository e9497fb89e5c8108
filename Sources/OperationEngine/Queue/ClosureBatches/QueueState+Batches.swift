/// Batches of closures in a queue. Guarded by the queue's lock, as is all of `QueueState`.
extension QueueState {
    // MARK: In the lists

    /// Admits a batch from the inbox. The batch before it is closed or full.
    @inline(never)
    mutating func admit(_ batch: ClosureBatch) {
        closeLastBatch()
        batch.sequence = nextSequence
        nextSequence += UInt64(batch.capacity)
        lastBatch = .passUnretained(batch)
        list(batch)
    }

    /// Puts the batch that was set aside back into its list if it has got closures. This is the check of the entrance,
    /// as `takeAll` is the check of the inbox.
    @inline(__always)
    mutating func listFilledBatch() {
        lastBatch?._withUnsafeGuaranteedRef { batch in
            if batch.place.kind == .none, !batch.isEmpty { list(batch) }
        }
    }

    /// Closes the last batch, because something comes behind it.
    @inline(never)
    mutating func closeLastBatch() {
        guard let last = lastBatch.take() else { return }
        last._withUnsafeGuaranteedRef { batch in
            batch.close()
            if batch.place.kind == .none, !batch.isEmpty { list(batch) }
            if batch.isEmpty { last.release() }
        }
    }

    private mutating func list(_ batch: ClosureBatch) {
        if batch.sequence >= held.firstSequence { return placeBehindBarrier(ReadyItem(batch), .readyBatch) }
        ready.append(ReadyItem(batch), as: .readyBatch)
    }

    // MARK: Running

    /// Moves the first closure of a listed batch into the caller's memory. The closure holds a slot from here on. A
    /// batch that is empty then leaves its list: it is set aside if it is the last one, and released otherwise.
    @inline(__always)
    mutating func take(
        from link: Unmanaged<ClosureBatch>, into place: UnsafeMutablePointer<BlockOperation.Block>
    ) -> Choice {
        running += 1
        runningClosures += 1
        return link._withUnsafeGuaranteedRef { batch in
            let sequence = batch.firstSequence
            place.initialize(to: batch.takeFirst())
            if batch.isEmpty {
                ready.remove(ReadyItem(batch))
                if link.toOpaque() != lastBatch?.toOpaque() { link.release() }
            }
            return .closure(sequence: sequence)
        }
    }

    // MARK: As objects

    /// Makes objects for all closures that no runner has taken. Each is an operation like any other from here on, at
    /// its place in the order.
    ///
    /// - Returns: how many there were.
    mutating func makeObjects(of queue: QueueCore) -> Int {
        // What is added from here on comes behind them.
        closeLastBatch()
        var count = ready.makeObjects(of: queue)
        held.visitAll { count += $0.ready.makeObjects(of: queue) }
        return count
    }
}

extension ReadyQueue {
    /// Replaces the batches, which are closed, by one object for each closure. Returns how many there were.
    fileprivate mutating func makeObjects(of queue: QueueCore) -> Int {
        var batches: [Unmanaged<ClosureBatch>] = []
        visitAll { if case .batch(let batch) = $0.kind { batches.append(batch) } }
        var count = 0
        for link in batches {
            link._withUnsafeGuaranteedRef { batch in
                while !batch.isEmpty {
                    let sequence = batch.firstSequence
                    let operation = BlockOperation(batch.takeFirst(), in: queue, sequence: sequence)
                    operation.state.enterReady(isCancelled: batch.isCancelled)
                    insert(.operation(.passRetained(operation)), before: ReadyItem(batch))
                    count += 1
                }
                remove(ReadyItem(batch))
            }
            link.release()
        }
        return count
    }
}
