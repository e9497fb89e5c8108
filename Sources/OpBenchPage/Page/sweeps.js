// A figure by a parameter with many values.

const number = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : null);

/** Parameters with three or more numbers, by workload. */
const sweeps = (() => {
    const values = workloads.map((workload) => workload.varying.map(() => new Set()));
    for (const cell of cells) {
        for (const [name, text] of cell.parameters) {
            const figure = number(text);
            if (figure !== null) values[cell.workload][workloads[cell.workload].varying.indexOf(name)].add(figure);
        }
    }
    return values.flatMap((sets, workload) => sets.map((set, place) => ({ workload, name: workloads[workload].varying[place], values: [...set].sort((a, b) => a - b) })))
        .filter((sweep) => sweep.values.length >= 3);
})();

const isGeometric = (values) => values[0] > 0 && values[values.length - 1] / values[0] >= 8
    && values.every((figure, index) => index === 0 || figure / values[index - 1] >= 1.5);

/** Groups of cells that differ only in the swept parameter, by their common parameters; those with most measured points
 * come first. */
function groupsOf(sweep, figure) {
    const groups = new Map();
    for (const cell of cells) {
        if (cell.workload !== sweep.workload) continue;
        const own = cell.parameters.find(([name]) => name === sweep.name);
        const figure = own ? number(own[1]) : null;
        if (figure === null) continue;
        const rest = cell.parameters.filter(([name]) => name !== sweep.name).map(([name, text]) => name + "=" + text).join(" ");
        if (!groups.has(rest)) groups.set(rest, []);
        groups.get(rest).push([figure, cell]);
    }
    const pointsOf = (cell) => drawnRows(cell).filter((row) => value(row, figure) !== null).length;
    return [...groups].map(([rest, members]) => ({
        rest, members: members.sort((a, b) => a[0] - b[0]), points: members.reduce((sum, [, cell]) => sum + pointsOf(cell), 0),
    })).sort((a, b) => b.points - a.points);
}

function drawSweep({ sweep, group, figure }, width) {
    const found = new Map();
    for (const [at, cell] of group.members) {
        for (const row of drawnRows(cell)) {
            if (value(row, figure) === null) continue;
            const key = row.backend + "|" + variant(row);
            if (!found.has(key)) found.set(key, []);
            found.get(key).push([at, row]);
        }
    }
    const lines = [...found.values()].sort((a, b) => a[0][1].backend - b[0][1].backend);
    if (lines.length === 0) return "No visible row has this figure.";
    const places = [...new Set(lines.flat().map(([at]) => at))].sort((a, b) => a - b);
    const x = { ...scaleFor(places, { unit: "count", isLog: isGeometric(places), isTight: true }) };
    const named = places.map((at) => [x.at(at), quantity(at, "count")]);
    x.ticks = (from, to) => named.filter(([tick]) => tick >= from - 1e-9 && tick <= to + 1e-9);
    const isRatio = figure === ratio;
    const y = scaleFor(lines.flat().flatMap(([, row]) => [value(row, figure), low(row, figure), high(row, figure)]),
        { unit: figure.unit, isLog: isRatio ? true : null, reference: isRatio ? 1 : null });
    const points = lines.flatMap((line) => line.map(([at, row]) => ({ value: [x.at(at), y.at(value(row, figure))], row, at })));
    return {
        option: {
            grid: { left: 80, right: 40, top: 12, bottom: 48 },
            xAxis: axis(x, visible(sweep.name) + (x.isLogarithmic ? " (logarithmic)" : ""), { isNarrow: isNarrow(width) }),
            yAxis: axis(y, figure.label + (y.isLogarithmic ? " (log.)" : ""), { place: "y" }),
            series: [
                ...lines.map((line) => ({
                    type: "line", silent: true, showSymbol: false, data: line.map(([at, row]) => [x.at(at), y.at(value(row, figure))]),
                    lineStyle: { color: colour(line[0][1].backend), width: 1.6, type: line.length < 3 ? [2, 6] : dashOf(line[0][1]) },
                })),
                {
                    type: "custom", clip: true, data: points, encode: { x: 0, y: 1 },
                    renderItem: ({ dataIndex }, api) => {
                        const { row, value: [at, middle] } = points[dataIndex];
                        const [from, to] = [low(row, figure), high(row, figure)];
                        const hasInterval = from !== null && to !== null && (!y.isLogarithmic || from > 0);
                        return markWithInterval(api.coord([at, middle]), hasInterval ? api.coord([at, y.at(from)]) : null, hasInterval ? api.coord([at, y.at(to)]) : null,
                            symbol(row.backend), colour(row.backend), { isHollow: isHollow(row), isDashed: isNoisy(row, figure), isVertical: true, size: 5 });
                    },
                    tooltip: { formatter: ({ dataIndex }) => tipOfRow(points[dataIndex].row, figure) },
                },
            ],
        },
        scales: { x, y }, height: 360, backends: backendOrder.filter((backend) => lines.some(([[, row]]) => row.backend === backend)), label: `${figure.label} by ${sweep.name}, ${workloads[sweep.workload].name} ${group.rest}.`,
        table: {
            head: [sweep.name, "backend", figure.label, "95 % interval"],
            rows: points.map(({ at, row }) => [String(at), withVariant(row), quantity(value(row, figure), figure.unit), intervalText(row, figure)]),
        },
    };
}

function tipOfRow(row, figure) {
    return tip(cellTitle(row.cell), [wordsOf(row, figure)]);
}

function showSweeps() {
    if (sweeps.length === 0 || openingFigures.length === 0) return;
    const parent = section("sweeps");
    const figure = figureNamed("time_ns_per_op") ?? openingFigures[0];
    const points = new Map(sweeps.map((sweep) => [sweep, groupsOf(sweep, figure)[0].points]));
    const state = { sweep: sweeps.reduce((best, sweep) => (points.get(sweep) > points.get(best) ? sweep : best)), figure, groups: [], group: null };
    const groupBox = element("div", {});
    const showGroups = () => {
        state.groups = groupsOf(state.sweep, state.figure);
        state.group = state.groups[0];
        groupBox.replaceChildren(state.groups.length > 1 ? menu("Other parameters",
            state.groups.slice(0, mostChoices).map(({ rest }, index) => [rest || absent, String(index)]), (index) => {
                state.group = state.groups[Number(index)];
                panel.renew();
            }) : "");
    };
    const controls = [
        menu("Parameter", sweeps.map((sweep, index) => [(workloads.length > 1 ? workloads[sweep.workload].name + ": " : "") + sweep.name, String(index)]), (index) => {
            state.sweep = sweeps[Number(index)];
            showGroups();
            panel.renew();
        }, String(sweeps.indexOf(state.sweep))),
        menu("Figure", figures.map((figure) => [figure.label, figure.name]), (name) => {
            state.figure = figureNamed(name);
            panel.renew();
        }, state.figure?.name),
        groupBox,
    ];
    showGroups();
    const panel = new Panel(parent, {
        id: "sweep", heading: "h2", title: "By parameter", hint: "All other parameters are the same along a line, which only guides the eye between the measured marks. Dots join two points.",
        controls, draw: (width) => drawSweep(state, width),
    });
}
