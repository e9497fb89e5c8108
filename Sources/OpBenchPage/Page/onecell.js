// One cell: its individual samples, and its latencies by percentile and by size.

const latencies = data.latencies.map(([run, cell, backend, operationClass, side, stage, total, points, firstBucket, buckets]) =>
    ({ run, cell, backend, operationClass, side, stage, total, points, firstBucket, buckets }));
const latenciesOfCell = new Map();
for (const one of latencies) {
    if (!latenciesOfCell.has(one.cell)) latenciesOfCell.set(one.cell, []);
    latenciesOfCell.get(one.cell).push(one);
}

const detail = { stage: "", operationClass: "", panels: [] };

/** The visible curves of the chosen cell; for a cell without histograms, the summary's percentiles. */
function curves() {
    const stored = (latenciesOfCell.get(choice.cell.index) ?? []).filter((one) => one.stage === detail.stage
        && one.operationClass === detail.operationClass && !choice.hidden.has(one.backend));
    if (stored.length > 0 || !detail.stage.startsWith("start")) {
        return stored.sort((a, b) => a.backend - b.backend);
    }
    const parts = figures.filter((figure) => figure.metric === "start_latency" && figure.stat.startsWith("p"))
        .map((figure) => [Number(figure.stat.slice(1)) / 100, figure]);
    return drawnRows(choice.cell, false).filter((row) => row.operationClass === detail.operationClass).map((row) => ({
        ...row, total: null, buckets: [], firstBucket: 0,
        points: parts.flatMap(([part, figure]) => {
            const latency = value(row, figure);
            return latency === null ? [] : [part, latency];
        }),
    })).filter((one) => one.points.length > 0);
}

const dashOf = (one) => (one.side === "base" || (hasRuns && one.run === 0) ? "dashed" : "solid");

/** The position of a fraction; at most as near to 1 as the number of operations can resolve. */
const place = (part, total) => -Math.log10(Math.max(1 - part, 1 / (2 * (total ?? 1e4))));

function pairs(points) {
    const result = [];
    for (let index = 0; index < points.length; index += 2) result.push([points[index], points[index + 1]]);
    return result;
}

function drawPercentiles(width) {
    const list = curves();
    if (list.length === 0) return "";
    const drawn = list.map((one) => pairs(one.points));
    // Times below the clock's resolution are drawn at the axis.
    const least = Math.min(...drawn.flat().map(([, figure]) => figure).filter((figure) => figure > 0));
    const y = scaleFor(drawn.flat().map(([, figure]) => Math.max(figure, least)), { unit: "ns", isLog: true });
    const last = Math.max(1, ...list.flatMap((one, index) => drawn[index].map(([part]) => place(part, one.total))));
    const parts = [[0, "0"], [0.5, "50 %"], [0.9, "90 %"], [0.99, "99 %"], [0.999, "99.9 %"], [0.9999, "99.99 %"], [0.99999, "99.999 %"], [0.999999, "99.9999 %"]];
    const x = {
        min: 0, max: last * 1.02, isLogarithmic: true,
        ticks: (from, to) => parts.map(([part, name]) => [-Math.log10(1 - part), name]).filter(([tick]) => tick >= from - 1e-9 && tick <= to + 1e-9),
    };
    const series = list.map((one, index) => ({
        type: "line", step: "start", showSymbol: one.total === null, symbol: "circle", symbolSize: 7, name: String(index),
        data: drawn[index].map(([part, figure]) => ({ value: [place(part, one.total), figure > 0 ? y.at(figure) : y.min], part, figure })),
        lineStyle: { color: colour(one.backend), width: 2, type: dashOf(one) }, itemStyle: { color: colour(one.backend) },
    }));
    const at = (one, part) => {
        const found = pairs(one.points).find(([reached]) => reached >= part - 1e-12);
        return found ? quantity(found[1], "ns") : absent;
    };
    const columns = [0.5, 0.9, 0.99, 0.999, 0.9999];
    return {
        option: {
            grid: { left: 76, right: 40, top: 12, bottom: 48 },
            xAxis: axis(x, "operations up to this latency (HDR scale)", { isNarrow: isNarrow(width) }),
            yAxis: axis(y, "latency (logarithmic)", { place: "y" }), series,
            tooltip: {
                ...base().tooltip, trigger: "axis", axisPointer: { type: "line", lineStyle: { color: css("--muted") }, label: { show: false } },
                formatter: (found) => tip((found[0].data.part * 100).toPrecision(6).replace(/\.?0+$/, "") + " % within", found.map(({ seriesName, data: point }) =>
                    withVariant(list[Number(seriesName)]) + ": " + quantity(point.figure, "ns"))),
            },
        },
        scales: { x, y }, height: 360, backends: backendsOf([choice.cell]),
        label: `Latency ${detail.stage} by percentile, ${cellTitle(choice.cell)}.`,
        table: {
            head: ["backend", ...columns.map((part) => part * 100 + " %"), "maximum", "operations"],
            rows: list.map((one) => [withVariant(one), ...columns.map((part) => at(one, part)),
                quantity(one.points[one.points.length - 1], "ns"), one.total === null ? absent : one.total.toLocaleString("en")]),
        },
    };
}

/** The lower bound of bucket `4p + q`: 2^p (1 + q/4). */
const bucketStart = (bucket) => (bucket < 0 ? 0 : 2 ** Math.floor(bucket / 4) * (1 + (bucket % 4) / 4));

function drawHistogram(width) {
    const list = curves().filter((one) => one.buckets.length > 0);
    if (list.length === 0) return "";
    const all = list.map((one) => one.buckets.map((count, index) => [bucketStart(one.firstBucket + index), count / one.total * 100, count]));
    // Empty buckets between 0 and the clock's resolution are left out.
    const first = Math.min(...all.flat().filter(([edge, , count]) => edge > 0 && count > 0).map(([edge]) => edge));
    const edges = all.map((steps) => steps.filter(([edge]) => edge === 0 || edge >= first));
    const positive = edges.flat().map(([edge]) => edge).filter((edge) => edge > 0).concat(list.map((one) => bucketStart(one.firstBucket + one.buckets.length)));
    const hasZero = edges.flat().some(([edge]) => edge === 0);
    const x = scaleFor(positive.filter((edge) => edge > 0).concat(hasZero ? [first / 1.5] : []), { unit: "ns", isLog: true });
    const at = (edge) => x.at(edge > 0 ? edge : first / 1.5);
    const y = scaleFor(edges.flat().map(([, share]) => share), { unit: "count" });
    const shares = { ...y, ticks: (from, to) => y.ticks(from, to).map(([tick]) => [tick, digits(tick) + " %"]) };
    const series = list.map((one, index) => {
        const end = bucketStart(one.firstBucket + one.buckets.length);
        const start = edges[index][0][0];
        const points = [[start, 0, 0], ...edges[index], [end, 0, 0]];
        return {
            type: "line", step: "end", showSymbol: false, name: String(index), areaStyle: { color: colour(one.backend), opacity: 0.08 },
            data: points.map(([edge, share, count]) => ({ value: [at(edge), share], edge, share, count })),
            lineStyle: { color: colour(one.backend), width: 1.8, type: dashOf(one) }, itemStyle: { color: colour(one.backend) },
        };
    });
    return {
        option: {
            grid: { left: 76, right: 40, top: 12, bottom: 48 },
            xAxis: axis(x, "latency (logarithmic; four steps to each doubling)", { isNarrow: isNarrow(width) }),
            yAxis: axis(shares, "operations per bucket", { place: "y" }), series,
            tooltip: {
                ...base().tooltip, trigger: "axis", axisPointer: { type: "line", lineStyle: { color: css("--muted") }, label: { show: false } },
                formatter: (found) => tip(found[0].data.edge > 0 ? "from " + quantity(found[0].data.edge, "ns") : "below the clock's resolution", found.map(({ seriesName, data: point }) =>
                    `${withVariant(list[Number(seriesName)])}: ${digits(point.share)} %, ${point.count.toLocaleString("en")}`)),
            },
        },
        scales: { x, y: shares }, height: 300, backends: backendsOf([choice.cell]), label: `How often each latency ${detail.stage} occurred, ${cellTitle(choice.cell)}.`,
        table: {
            head: ["backend", "from", "operations", "share"],
            rows: list.flatMap((one, index) => edges[index].filter(([, , count]) => count > 0).map(([edge, share, count]) =>
                [withVariant(one), quantity(edge, "ns"), count.toLocaleString("en"), digits(share) + " %"])),
        },
    };
}

function quantile(sorted, part) {
    const at = (sorted.length - 1) * part;
    const below = Math.floor(at);
    return sorted[below] + (sorted[Math.min(below + 1, sorted.length - 1)] - sorted[below]) * (at - below);
}

/** Draws every sample as a mark, the middle half as a box if there are at least five samples, and the median as a
 * line. */
function drawSamples(width) {
    const list = drawnRows(choice.cell).filter((row) => row.dots.length > 0);
    if (list.length === 0) return "";
    const samples = list.map((row) => {
        const dots = [];
        for (let index = 0; index < row.dots.length; index += 3) dots.push({ block: row.dots[index], figure: row.dots[index + 1], isNoisy: row.dots[index + 2] === 1 });
        return dots;
    });
    const all = samples.flat().map(({ figure }) => figure);
    const scale = scaleFor(all, { unit: "ns", isTight: true, isLog: Math.max(...all) / Math.min(...all) > 4 });
    const axisOfNames = nameAxis(list.map(withVariant), width);
    const figure = figureNamed("time_ns_per_op");
    const boxes = list.map((row, place) => ({ value: [scale.at(quantile(samples[place].map((dot) => dot.figure).sort((a, b) => a - b), 0.5)), place], row, place }));
    const points = list.flatMap((row, place) => samples[place].map((dot, index) => ({
        value: [scale.at(dot.figure), place], row, dot, offset: samples[place].length === 1 ? 0 : index / (samples[place].length - 1) - 0.5,
    })));
    const box = ({ dataIndex }, api) => {
        const { place, value: [middle] } = boxes[dataIndex];
        const sorted = samples[place].map((dot) => dot.figure).sort((a, b) => a - b);
        const band = api.size([0, 1])[1] * 0.7;
        const hue = colour(list[place].backend);
        const at = (figureAt) => api.coord([figureAt, place]);
        const children = [];
        if (sorted.length >= 5) {
            const [left, top] = at(scale.at(quantile(sorted, 0.25)));
            const [right] = at(scale.at(quantile(sorted, 0.75)));
            children.push({ type: "rect", shape: { x: left, y: top - band / 2, width: Math.max(1, right - left), height: band }, style: { fill: hue, opacity: 0.16, stroke: hue, lineWidth: 1 } });
        }
        if (sorted.length >= 2) {
            const [x1, y1] = at(middle);
            children.push({ type: "line", shape: { x1, x2: x1, y1: y1 - band / 2, y2: y1 + band / 2 }, style: { stroke: hue, lineWidth: 2.5 } });
        }
        return { type: "group", children };
    };
    return {
        option: {
            grid: { left: axisOfNames.room, right: 40, top: 8, bottom: 48 },
            xAxis: axis(scale, "time/op" + (scale.isLogarithmic ? " (logarithmic)" : " (not from 0)"), { isNarrow: isNarrow(width) }), yAxis: axisOfNames.option,
            series: [
                { type: "custom", clip: true, silent: true, data: boxes, encode: { x: 0, y: 1 }, renderItem: box },
                {
                    type: "custom", clip: true, data: points, encode: { x: 0, y: 1 },
                    renderItem: ({ dataIndex }, api) => {
                        const { row, dot, offset, value: at } = points[dataIndex];
                        const [x, y] = api.coord(at);
                        return markWithInterval([x, y + offset * api.size([0, 1])[1] * 0.55], null, null, symbol(row.backend), colour(row.backend), { isHollow: dot.isNoisy, size: 4.2 });
                    },
                    tooltip: {
                        formatter: ({ dataIndex }) => {
                            const { row, dot } = points[dataIndex];
                            return tip(withVariant(row), [`block ${dot.block}: ${quantity(dot.figure, "ns")}`, dot.isNoisy ? "noisy: something else used the machine" : ""]);
                        },
                    },
                },
            ],
        },
        scales: { x: scale }, height: 64 + list.length * 54, backends: backendsOf([choice.cell]), label: `Time per operation of each throughput sample, ${cellTitle(choice.cell)}.`,
        table: {
            head: ["backend", "samples", "minimum", "quartile", "median", "95 % of the median", "quartile", "maximum"],
            rows: list.map((row, index) => {
                const sorted = samples[index].map((dot) => dot.figure).sort((a, b) => a - b);
                return [withVariant(row), String(sorted.length), ...[0, 0.25, 0.5].map((part) => quantity(quantile(sorted, part), "ns")),
                    intervalText(row, figure), ...[0.75, 1].map((part) => quantity(quantile(sorted, part), "ns"))];
            }),
        },
    };
}

const mostChoices = 400;

/** Shows one cell's samples and latencies. */
function showDetail(cell, isAsked = false) {
    choice.cell = cell;
    const stages = [...new Set((latenciesOfCell.get(cell.index) ?? []).map((one) => one.stage))];
    if (stages.length === 0) stages.push("start");
    if (!stages.includes(detail.stage)) detail.stage = stages.find((stage) => stage === "intended") ?? stages.find((stage) => stage.startsWith("start")) ?? stages[0];
    const classes = [...new Set((latenciesOfCell.get(cell.index) ?? []).map((one) => one.operationClass))].sort();
    if (!classes.includes(detail.operationClass)) detail.operationClass = classes[0] ?? "";
    const renew = () => detail.panels.forEach((panel) => panel.renew());
    const cellMenu = menu("Cell", [], (index) => showDetail(cells[Number(index)]));
    cellMenu.className = "cell-menu";
    const select = cellMenu.querySelector("select");
    const list = shownCells();
    const position = list.indexOf(cell);
    const options = list.slice(0, mostChoices);
    if (!options.includes(cell)) options.unshift(cell);
    select.append(...options.map((one) => element("option", { value: one.index, selected: one === cell }, cellTitle(one))));
    const step = (words, name, offset) => element("button", {
        type: "button", "data-cell": name, disabled: list[position + offset] === undefined || position < 0, onclick: () => showDetail(list[position + offset]),
    }, words);
    const stageMenu = stages.length > 1 ? menu("Latency", stages.map((stage) => [stage.replaceAll("_", " "), stage]), (stage) => {
        detail.stage = stage;
        renew();
    }, detail.stage) : null;
    const classMenu = classes.length > 1 ? menu("Class", classes.map((name) => [name || "all", name]), (name) => {
        detail.operationClass = name;
        renew();
    }, detail.operationClass) : null;
    detail.section.hidden = false;
    const focused = document.activeElement;
    const wasIn = detail.tools.contains(focused);
    detail.tools.replaceChildren(...[cellMenu, step("Previous cell", "previous", -1), step("Next cell", "next", 1), stageMenu, classMenu].filter((one) => one !== null));
    if (wasIn) (focused.dataset.cell ? detail.tools.querySelector(`[data-cell="${focused.dataset.cell}"]:not(:disabled)`) ?? select : select).focus();
    detail.name.textContent = visible(cell.id);
    if (detail.panels.length === 0) makeDetailPanels();
    renew();
    if (isAsked) {
        detail.section.focus({ preventScroll: true });
        detail.section.scrollIntoView();
    }
}

/** Hidden until the reader chooses a cell; a page of one cell shows it. */
function showOneCell() {
    detail.section = section("one-cell", "One cell");
    detail.section.setAttribute("tabindex", "-1");
    detail.section.hidden = true;
    detail.tools = element("div", { class: "controls unprinted" });
    detail.name = element("p", { class: "muted" });
    detail.section.append(detail.tools, detail.name);
    if (cells.length === 1) showDetail(cells[0]);
    listeners.push(() => {
        if (choice.cell !== null) showDetail(choice.cell);
    });
}

function makeDetailPanels() {
    const parent = detail.section;
    detail.panels = [
        new Panel(parent, { id: "samples", title: "Samples", hint: "A mark is one sample, a separate process; blocks are in the order in which they ran, from top to bottom. Box: the middle half; line: the median. Hollow: noisy.", draw: drawSamples }),
        new Panel(parent, { id: "percentiles", title: "Latency percentiles", hint: "Each further nine takes the same space, to show the tail. Medians of the samples' percentiles, as in the table; the last point is the overall maximum.", draw: drawPercentiles }),
        new Panel(parent, { id: "histogram", title: "Latency distribution", hint: "The number of operations per latency bucket, over all samples.", draw: drawHistogram }),
    ];
}
