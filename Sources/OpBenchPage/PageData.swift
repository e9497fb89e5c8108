import OpBenchAnalysis
import OpBenchHistory
import OpBenchModel

/// The data of a page, as one block of JSON: the page's script reads nothing else. Frequent names are written once and
/// referenced by index.
struct PageData {
    let json: String

    init(_ page: ReportPage) {
        let places = Places(page)
        let figures = Self.present(in: page)
        var text = PageJSON()
        text.object { json in
            json.member("maker", page.maker)
            json.member("figures", figures) { $0.write($1) }
            json.member("verdicts", page.verdicts) { $0.write($1) }
            json.member("runs", page.runs) { $0.write($1) }
            let runs = Array(page.runs.enumerated())
            json.member("rows", runs) { Self.write(rowsOf: $1.element, $1.offset, figures, places, to: &$0) }
            json.member("latencies", runs) { Self.write(latenciesOf: $1.element, $1.offset, places, to: &$0) }
            places.write(to: &json)
            let namesHost = Set(page.trends.map(\.host)).count > 1
            json.member("trends", page.trends) { $0.write($1, namesHost: namesHost) }
        }
        self.json = text.text
    }

    /// The figures that some row has: absent ones would take most of a page with many rows.
    private static func present(in page: ReportPage) -> [Figure] {
        Figure.catalogue.filter { figure in
            page.runs.contains { run in run.summary.contains { $0.comparable(figure).value?.isFinite == true } }
        }
    }

    private static func write(
        rowsOf run: PageRun, _ index: Int, _ figures: [Figure], _ places: Places, to json: inout PageJSON
    ) {
        let throughput = ThroughputSamples(run.samples)
        for row in run.summary {
            let key = ThroughputSamples.Key(cellID: row.cellID, backend: row.backend, side: row.side)
            let samples = row.operationClass.isEmpty ? throughput.samples[key] ?? [] : []
            json.array { json in
                json.integer(index)
                json.integer(places.placeOfCell[row.cellID]!)
                json.integer(places.placeOfBackend[row.backend.rawValue]!)
                json.string(row.operationClass)
                json.string(row.side)
                json.string(row.status.rawValue)
                json.integer(row.samples)
                json.integer(throughput.noisy[key] ?? 0)
                json.string(row.ratioTo?.rawValue ?? "")
                json.string(Axis(row.flags)?.words ?? "")
                json.array { json in
                    for figure in figures {
                        let estimate = row.comparable(figure)
                        json.figure(estimate.value)
                        if figure.hasInterval {
                            let interval = estimate.value == nil ? nil : row.interval(of: figure)
                            json.figure(interval?.low)
                            json.figure(interval?.high)
                        }
                    }
                }
                json.array { json in
                    for sample in samples {
                        json.integer(sample.block)
                        json.figure(sample.nanosecondsPerOperation)
                        json.integer(sample.isNoisy ? 1 : 0)
                    }
                }
                json.integer(row.isUnsteady ? 1 : 0)
                json.array { json in
                    guard let low = row.modes.low else { return }
                    json.figure(low)
                    json.figure(row.modes.high)
                    json.figure(row.modes.highSamples.map(Double.init))
                }
            }
        }
    }

    /// With more curves than this, they are left out, and the page shows the percentiles of the summary: a curve takes
    /// a kilobyte.
    static let mostCurves = 3000

    private static func write(latenciesOf run: PageRun, _ index: Int, _ places: Places, to json: inout PageJSON) {
        // If most samples are overloaded, curves would only show the duration of the samples.
        let overloaded = Set(
            run.summary.filter { $0.quality?.isOverloaded == true && $0[.completionRate].value != nil }.map { row in
                [row.cellID, row.backend.rawValue, row.operationClass, row.side]
            })
        let known = run.latencies.keys.filter {
            !overloaded.contains([$0.cellID, $0.backend, $0.operationClass, $0.side])
        }
        // Start latencies are used most.
        let keys =
            known.count <= mostCurves ? known : Array(known.filter { $0.stage.hasPrefix("start") }.prefix(mostCurves))
        for key in keys {
            guard let cell = places.placeOfCell[key.cellID], let backend = places.placeOfBackend[key.backend],
                let curve = run.latencies.curve(key, ticks: known.count <= 1000 ? 4 : 2)
            else { continue }
            json.array { json in
                json.integer(index)
                json.integer(cell)
                json.integer(backend)
                json.string(key.operationClass)
                json.string(key.side)
                json.string(key.stage)
                json.figure(Double(curve.total))
                json.array { json in
                    for point in curve.points {
                        json.figure(point.part)
                        json.figure(Double(point.nanoseconds))
                    }
                }
                json.integer(curve.firstBucket)
                json.array(curve.buckets) { $0.figure(Double($1)) }
            }
        }
    }
}

/// The indices of cells and backends by name.
private struct Places {
    private(set) var placeOfCell: [String: Int] = [:]
    private var backends: [String] = []
    private(set) var placeOfBackend: [String: Int] = [:]
    private var rows: [SummaryRow] = []

    init(_ page: ReportPage) {
        for row in page.runs.lazy.flatMap(\.summary) {
            if placeOfCell[row.cellID] == nil {
                placeOfCell[row.cellID] = rows.count
                rows.append(row)
            }
            add(row.backend.rawValue)
        }
        for series in page.trends { add(series.name.backend.rawValue) }
    }

    private mutating func add(_ backend: String) {
        if placeOfBackend[backend] != nil { return }
        placeOfBackend[backend] = backends.count
        backends.append(backend)
    }

    /// Parameters that are equal in all cells of a workload are written once.
    func write(to json: inout PageJSON) {
        let byWorkload = Dictionary(grouping: rows.indices) { rows[$0].workload }
        var seen: Set<String> = []
        let names = rows.map(\.workload).filter { seen.insert($0).inserted }
        let places = Dictionary(uniqueKeysWithValues: zip(names, 0...))
        let varying = names.map { name -> [String] in
            let indices = byWorkload[name]!
            let parameters = indices.reduce(into: Set<String>()) { $0.formUnion(rows[$1].parameters.keys) }
            return parameters.sorted().filter { parameter in
                let first = rows[indices[0]].parameters[parameter]
                return indices.contains { rows[$0].parameters[parameter] != first }
            }
        }
        json.member("backends", strings: backends)
        json.member("workloads", Array(names.enumerated())) { json, workload in
            let (place, name) = workload
            let common = rows[byWorkload[name]![0]].parameters.filter { !varying[place].contains($0.key) }
            json.object { json in
                json.member("name", name)
                json.member("varying", strings: varying[place])
                json.member("common", common.sorted { $0.key < $1.key }) { $0.array(strings: [$1.key, $1.value]) }
            }
        }
        json.member("cells", rows) { json, row in
            let place = places[row.workload]!
            json.array { json in
                json.integer(place)
                json.string(row.cellID)
                for parameter in varying[place] { json.string(row.parameters[parameter] ?? "") }
            }
        }
    }
}

extension PageJSON {
    fileprivate mutating func write(_ figure: Figure) {
        object { json in
            json.member("name", figure.name)
            json.member("metric", figure.metric.name)
            json.member("stat", figure.stat)
            json.member("label", figure.title.split(separator: "\u{AD}").joined())
            json.member("unit", figure.unit.rawValue)
            json.member("meaning", figure.meaning)
            json.member("shown", figure.isHeadline)
            json.member("interval", figure.hasInterval)
        }
    }

    fileprivate mutating func write(_ run: PageRun) {
        object { json in
            json.member("name", run.name)
            json.member("id", run.summary.first?.runID ?? run.samples.first?.runID ?? "")
            json.member("facts", run.facts) { $0.array(strings: [$1.label, $1.value]) }
            json.member("files", run.workloads) { json, workload in
                json.object { json in
                    json.member("name", workload.name)
                    json.member("file", workload.file)
                    json.member("text", workload.text)
                }
            }
        }
    }

    fileprivate mutating func write(_ judged: JudgedFigures) {
        object { json in
            json.member("kind", judged.kind.rawValue)
            json.member("title", judged.title)
            json.member("columns", judged.table.columns) { json, column in
                json.array {
                    $0.string(column.title)
                    $0.boolean(column.isText)
                    $0.boolean(column.isDetail)
                }
            }
            json.member("rows", judged.table.rows) { json, row in
                let isRatio = row.ratio != nil
                json.array { json in
                    json.array(strings: judged.table.fields(row))
                    json.string(row.verdict.rawValue)
                    json.string(row.backend.rawValue)
                    json.figure(row.ratio)
                    json.figure(isRatio ? row.ratioLow : nil)
                    json.figure(isRatio ? row.ratioHigh : nil)
                    json.figure(row.threshold ?? (isRatio ? row.atMost : nil))
                    json.string(row.cellID)
                    json.string(row.figureName)
                }
            }
            json.member("remedies", strings: judged.remedies)
        }
    }

    /// - Parameter namesHost: whether the page has series of several hosts; it does not show them otherwise.
    fileprivate mutating func write(_ series: TrendSeries, namesHost: Bool) {
        object { json in
            json.member("cell", series.name.cellID + (namesHost ? " · \(series.host.summary)" : ""))
            json.member("backend", series.name.backend.rawValue)
            json.member("metric", series.title)
            json.member("unit", series.name.unit.rawValue)
            json.member("points", series.points) { json, point in
                json.array {
                    $0.string(point.run.id)
                    $0.string(point.run.startedUTC)
                    $0.string(point.run.commit)
                    $0.figure(point.figure.value)
                    $0.figure(point.figure.low)
                    $0.figure(point.figure.high)
                }
            }
            let places = series.points.indices
            json.member("changes", places.filter { series.points[$0].change != nil }) { json, index in
                json.array {
                    $0.integer(index)
                    $0.figure(series.points[index].change)
                    $0.boolean(series.points[index].isChangeOfCode)
                }
            }
            json.member("surroundings", places.filter { !series.points[$0].surroundingChanges.isEmpty }) {
                json, index in
                let changes = series.points[index].surroundingChanges
                json.array {
                    $0.integer(index)
                    $0.string(changes.titles.joined(separator: ", "))
                    $0.array(strings: changes.lines)
                }
            }
        }
    }
}
