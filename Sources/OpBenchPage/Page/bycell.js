// A figure of many cells: a line for each cell, with a mark and interval for each backend.

const cellsOfChart = 12;
let chartPage = 0;

/** Draws marks with intervals: a line for each cell, a mark for each backend. */
function drawByCell(figure, width, isWithFloor) {
    const all = shownCells().filter((cell) => drawnRows(cell).some((row) => value(row, figure) !== null));
    if (all.length === 0) return "No visible row has this figure.";
    const pages = Math.ceil(all.length / cellsOfChart);
    const page = Math.min(chartPage, pages - 1);
    const list = all.slice(page * cellsOfChart, (page + 1) * cellsOfChart);
    const drawn = list.map((cell) => withoutFloor(drawnRows(cell).filter((row) => value(row, figure) !== null), isWithFloor));
    const flat = drawn.flat();
    const isRatio = figure === ratio;
    const scale = scaleFor(flat.flatMap((row) => [value(row, figure), low(row, figure), high(row, figure)]),
        { unit: figure.unit, isLog: isRatio ? true : null, reference: isRatio ? 1 : null });
    const most = Math.max(...drawn.map((some) => some.length));
    const axisOfNames = nameAxis(list.map(cellTitle), width);
    const points = drawn.flatMap((some, place) => some.map((row, index) => ({
        row, value: [scale.at(value(row, figure)), place, (index + 0.5) / some.length - 0.5],
    })));
    const title = figure.label;
    const option = {
        grid: { left: axisOfNames.room, right: 40, top: 8, bottom: 48 },
        xAxis: axis(scale, visible(title) + (scale.isLogarithmic ? " (logarithmic)" : ""), { isNarrow: isNarrow(width) }),
        yAxis: axisOfNames.option,
        series: [{
            type: "custom", clip: true, data: points, encode: { x: 0, y: 1 },
            renderItem: ({ dataIndex }, api) => renderMark(points[dataIndex], scale, figure, api),
            tooltip: { formatter: ({ dataIndex }) => tipOfRow(points[dataIndex].row, figure) },
        }, ...(isRatio ? [referenceLine(0, "")] : [])],
    };
    const range = `${title} of ${plural(list.length, "cell")}` + (pages > 1 ? ` (${page * cellsOfChart + 1}–${page * cellsOfChart + list.length} of ${all.length} shown)` : "");
    return {
        option, scales: { x: scale }, height: 64 + list.length * Math.max(34, most * 15 + 8, roomFor(list.map(cellTitle), width)), label: range + ".", backends: backendOrder.filter((backend) => flat.some((row) => row.backend === backend)),
        table: {
            head: ["cell", "backend", title, "95 % interval"],
            rows: flat.map((row) => [cellTitle(row.cell), withVariant(row), quantity(value(row, figure), figure.unit), intervalText(row, figure)]),
        },
    };
}

function intervalText(row, figure) {
    return interval(low(row, figure), high(row, figure), value(row, figure), figure?.unit);
}

function renderMark({ row, value: [x, place, offset] }, scale, figure, api) {
    const band = api.size([0, 1])[1] * 0.86;
    const at = (figureAt) => {
        const [left, top] = api.coord([figureAt, place]);
        return [left, top + offset * band];
    };
    const [from, to] = [low(row, figure), high(row, figure)];
    const hasInterval = from !== null && to !== null && (!scale.isLogarithmic || from > 0);
    return markWithInterval(at(x), hasInterval ? at(scale.at(from)) : null, hasInterval ? at(scale.at(to)) : null,
        symbol(row.backend), colour(row.backend), { isHollow: isHollow(row), isDashed: isDoubtful(row, figure) });
}

function tipOfRow(row, figure) {
    const hasInterval = low(row, figure) !== null && high(row, figure) !== null;
    return tip(cellTitle(row.cell), [
        withVariant(row), `${figure.label}: ${quantityWithin(low(row, figure), high(row, figure), value(row, figure), figure.unit)}`,
        hasInterval ? "" : "no interval: too few samples, or a figure without one",
        row.doubtful > 0 ? plural(row.doubtful, "doubtful sample") : "",
    ]);
}

const byCellPanels = [];

function byCellPanel(parent, id, title, hint, list) {
    if (list.length === 0) return;
    let figure = list[0];
    let isWithFloor = false;
    const controls = list.length > 1
        ? [menu("Figure", list.map((one) => [one.label, one.name]), (name) => {
            figure = figureNamed(name);
            panel.renew();
        }, figure.name)] : [];
    controls.push(...floorBox((isChosen) => {
        isWithFloor = isChosen;
        panel.renew();
    }));
    const panel = new Panel(parent, { id, title, hint, controls, draw: (width) => drawByCell(figure, width, isWithFloor) });
    byCellPanels.push(panel);
}

function showByCell() {
    if (rows.length === 0) return;
    const parent = section("by-cell", "Cells side by side", "The cells of the table above, with its order and filter.");
    const pager = element("div", { class: "controls" });
    parent.append(pager);
    const showPager = () => {
        const count = shownCells().length;
        const pages = Math.max(1, Math.ceil(count / cellsOfChart));
        chartPage = Math.min(chartPage, pages - 1);
        pager.hidden = pages === 1;
        const focused = document.activeElement?.dataset?.turn;
        const turn = (words, name, step) => element("button", {
            type: "button", "data-turn": name, disabled: chartPage + step < 0 || chartPage + step >= pages, onclick: () => {
                chartPage += step;
                showPager();
                for (const panel of byCellPanels) panel.renew();
            },
        }, words);
        pager.replaceChildren(turn("Previous cells", "back", -1),
            element("span", {}, `cells ${chartPage * cellsOfChart + 1}–${Math.min(count, (chartPage + 1) * cellsOfChart)} of ${count}`),
            turn("Next cells", "on", 1));
        if (focused !== undefined) pager.querySelector(`[data-turn="${focused}"]:not(:disabled)`)?.focus();
    };
    listeners.push(() => {
        chartPage = 0;
        showPager();
    });
    showPager();
    byCellPanel(parent, "ratios", "Time per operation" + (ratio?.label.slice("time".length) ?? ""),
        "Left of 1 is faster. Bars are 95 % intervals; an interval that crosses 1 shows no difference.",
        figuresAbout("ratio"));
    byCellPanel(parent, "times", "Times and rates", "Logarithmic if figures differ more than thirtyfold, else from 0.",
        figuresAbout("time", "rate"));
    byCellPanel(parent, "costs", "CPU time and the kernel's part", "CPU time of all threads per operation: the processor time used, as opposed to the elapsed time.",
        figuresAbout("cost"));
    byCellPanel(parent, "memory", "Memory", "Counts of malloc barely vary and have no interval. Held: bytes in use when all operations are submitted and none has started.",
        figuresAbout("memory"));
    byCellPanel(parent, "latency-figures", "Latencies", "Percentiles over all operations of a sample: the median of the samples.",
        figuresAbout("latency"));
}
