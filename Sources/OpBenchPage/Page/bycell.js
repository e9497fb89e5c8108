// A figure of all cells: a line for each cell, and a mark with its interval for each backend. A cell is a link to its
// samples and latencies.

const cellsOfChart = 40;
const byCell = { letter: 12.5, pitch: 6, leastLine: 20, axis: 20 };

const ruler = document.createElement("canvas").getContext("2d");

function widthOf(text) {
    ruler.font = `${byCell.letter}px ${getComputedStyle(document.body).fontFamily}`;
    return ruler.measureText(text).width;
}

/** The text, cut where it does not fit. */
function cut(text, room) {
    let end = text.length;
    const made = () => (end === text.length ? text : text.slice(0, end) + "…");
    while (end > 1 && widthOf(made()) > room) end -= 1;
    return made();
}

/** Whether the row is the denominator of its cell's ratios. */
const isReference = (row) => row.ratioTo === names(row.backend);

/** The rows of a cell with the figure; of ratios, those that are not 1 by definition. */
function rowsWith(figure, cell) {
    return drawnRows(cell).filter((row) => value(row, figure) !== null && !(figure === ratio && isReference(row)));
}

/** A mark within its interval, with the figures as its title. */
function markOf(row, figure, x, y, isLogarithmic) {
    const [from, to, hue] = [low(row, figure), high(row, figure), colour(row.backend)];
    const parts = [vector("title", {}, visible(wordsOf(row, figure)))];
    if (from !== null && to !== null && (!isLogarithmic || from > 0)) {
        const ends = { x1: x(from), x2: x(to), y1: y, y2: y };
        parts.push(vector("line", { ...ends, stroke: "transparent", "stroke-width": byCell.pitch }),
            vector("line", { ...ends, stroke: hue, "stroke-width": 1.6, "stroke-dasharray": isNoisy(row, figure) ? "3 2" : "none" }));
    }
    parts.push(vector("path", {
        d: markPath(symbol(row.backend), 3.6), transform: `translate(${x(value(row, figure))} ${y})`,
        fill: isHollow(row) ? css("--page") : hue, stroke: hue, "stroke-width": isHollow(row) ? 1.5 : 0.5,
    }));
    return vector("g", {}, ...parts);
}

function wordsOf(row, figure) {
    const time = figureNamed("time_ns_per_op");
    return [
        `${withVariant(row)}: ${quantityWithin(low(row, figure), high(row, figure), value(row, figure), figure.unit)}`,
        figure === ratio ? `of ${row.ratioTo}; ${quantityWithin(low(row, time), high(row, time), value(row, time), time?.unit)} per operation` : "",
        row.noisy > 0 ? `(${plural(row.noisy, "noisy sample")})` : "",
    ].filter((part) => part !== "").join(" ");
}

/** Grid lines, and the names of the ticks that fit, above and below. */
function ticksOf(scale, x, top, bottom) {
    const parts = [];
    let end = -Infinity;
    for (const [tick, name] of scale.ticks(scale.min, scale.max)) {
        const at = x(tick);
        parts.push(vector("line", { x1: at, x2: at, y1: top, y2: bottom, stroke: css("--line"), "stroke-opacity": 0.7 }));
        const half = widthOf(name) / 2;
        if (at - half < end + 6) continue;
        end = at + half;
        const look = { x: at, fill: css("--muted"), "text-anchor": "middle" };
        parts.push(vector("text", { ...look, y: top - 6 }, name), vector("text", { ...look, y: bottom + 15 }, name));
    }
    return parts;
}

function drawByCell(figure, page, width) {
    const groups = shownCells().map((cell) => ({ cell, rows: rowsWith(figure, cell) }));
    const all = groups.filter((group) => group.rows.length > 0);
    if (all.length === 0) return "No visible row has this figure.";
    const pages = Math.ceil(all.length / cellsOfChart);
    const start = Math.min(page, pages - 1) * cellsOfChart;
    const list = all.slice(start, start + cellsOfChart);
    const flat = list.flatMap((group) => group.rows);
    const isRatio = figure === ratio;
    const scale = scaleFor(flat.flatMap((row) => [value(row, figure), low(row, figure), high(row, figure)]).concat(isRatio ? [0.8, 1.25] : []),
        { unit: figure.unit, isLog: isRatio ? true : null });

    // Names are left of the marks, or above them on a phone and on paper.
    const isStacked = width < 720;
    const hasNames = workloads.length > 1;
    const workloadRoom = isStacked || !hasNames ? 0 : Math.min(width * 0.18, Math.max(...list.map(({ cell }) => widthOf(workloads[cell.workload].name))) + 12);
    const nameOf = (cell) => (hasNames ? cell.label || "only cell" : cellTitle(cell));
    const nameRoom = isStacked ? 0 : Math.min(width * 0.55 - workloadRoom, Math.max(...list.map(({ cell }) => widthOf(nameOf(cell)))) + 14);
    const [left, right] = [workloadRoom + nameRoom + 4, width - 14];
    const place = (at) => left + (at - scale.min) / (scale.max - scale.min) * (right - left);
    const x = (figureAt) => place(scale.at(figureAt));
    const above = isStacked ? 15 : 0;
    const isFirst = (index) => index === 0 || list[index - 1].cell.workload !== list[index].cell.workload;
    const headOf = (index) => (isStacked && hasNames && isFirst(index) ? 18 : 0);
    const heightOf = (group) => above + Math.max(isStacked ? 10 : byCell.leastLine, group.rows.length * byCell.pitch + 4);
    const top = byCell.axis;
    const bottom = list.reduce((sum, group, index) => sum + headOf(index) + heightOf(group), top);
    const height = bottom + byCell.axis + (isRatio ? 16 : 0);

    const lines = [];
    let y = top;
    list.forEach((group, index) => {
        const { cell } = group;
        const size = heightOf(group);
        const line = { x1: isFirst(index) ? 0 : workloadRoom, x2: width, y1: y, y2: y, stroke: css("--line") };
        lines.push(vector("line", isFirst(index) ? line : { ...line, "stroke-opacity": 0.5 }));
        const middle = isStacked ? 12.5 : size / 2 + 4.5;
        if (hasNames && isFirst(index)) {
            lines.push(vector("text", { x: 0, y: y + middle, fill: css("--muted") }, cut(visible(workloads[cell.workload].name), workloadRoom > 0 ? workloadRoom - 8 : width)));
        }
        y += headOf(index);
        const name = visible(nameOf(cell));
        const step = (size - above) / group.rows.length;
        const link = vector("a", { href: "#one-cell", class: "cell", "aria-label": visible(cellTitle(cell)) + ": show its samples and latencies" },
            vector("title", {}, visible(cell.id)),
            vector("rect", { x: workloadRoom - 4, y, width: width - workloadRoom + 4, height: size, fill: "transparent" }),
            vector("text", { x: workloadRoom, y: y + middle, fill: css("--text") }, cut(name, isStacked ? width : nameRoom - 10)),
            ...group.rows.map((row, number) => markOf(row, figure, x, y + above + step * (number + 0.5), scale.isLogarithmic)));
        link.addEventListener("click", (event) => {
            event.preventDefault();
            showDetail(cell, true);
        });
        lines.push(link);
        y += size;
    });
    const grid = ticksOf(scale, place, top, bottom);
    if (isRatio) {
        const words = { y: bottom + 31, fill: css("--muted") };
        grid.push(vector("line", { x1: x(1), x2: x(1), y1: top, y2: bottom, stroke: css("--muted"), "stroke-width": 1.3 }),
            vector("text", { ...words, x: x(1) - 8, "text-anchor": "end" }, "← faster"), vector("text", { ...words, x: x(1) + 8 }, "slower →"));
    }
    const without = groups.length - all.length;
    if (without > 0 && !isStacked) {
        grid.push(vector("text", { x: 0, y: bottom + 15, fill: css("--muted") }, cut(plural(without, "cell") + (isRatio ? " without a comparable ratio" : " without this figure"), left - 10)));
    }
    const shown = list.length < all.length ? ` (${start + 1}–${start + list.length} of ${all.length})` : "";
    return {
        picture: vector("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-size": byCell.letter }, ...grid, ...lines),
        height, page: start / cellsOfChart, pages,
        label: `${figure.label} of ${plural(list.length, "cell")}${shown}.`,
        backends: backendOrder.filter((backend) => flat.some((row) => row.backend === backend)),
        table: {
            head: ["cell", "backend", figure.label, "95 % interval"],
            rows: flat.map((row) => [cellTitle(row.cell), withVariant(row), quantity(value(row, figure), figure.unit), intervalText(row, figure)]),
        },
    };
}

function intervalText(row, figure) {
    return interval(low(row, figure), high(row, figure), value(row, figure), figure?.unit);
}

/** The figures that the page opens with: the ratio or else the time, and the latencies of open loops. */
const openingFigures = (() => {
    const has = (figure) => figure !== undefined && cells.some((cell) => rowsWith(figure, cell).length > 0);
    const first = [ratio, figureNamed("time_ns_per_op")].find(has);
    const list = [...(first === undefined ? [] : [first]), ...openLoopFigures.filter(has)];
    return list.length > 0 ? list : figures.filter(has).slice(0, 1);
})();

function titleOf(figure) {
    if (figure === ratio) return "Time per operation" + ratio.label.slice("time".length);
    return openLoopFigures.includes(figure) ? "Latency from the intended start, " + figure.stat : figure.label;
}

function wordsAbove(figure) {
    const bars = figure === ratio ? "95 % intervals; one across 1 shows no difference." : figure.meaning + (figure.interval ? " Bars: 95 % intervals." : "");
    return bars + (rows.some((row) => isNoisy(row, figure)) ? " Dashed: most samples are noisy." : "");
}

function showByCell() {
    if (openingFigures.length === 0) return;
    const parent = section("by-cell");
    const action = "Click a cell for its samples and latencies.";
    openingFigures.forEach((opening, index) => {
        let figure = opening;
        let page = 0;
        const pager = element("span", {});
        const turn = (words, pages, step) => element("button", {
            type: "button", disabled: page + step < 0 || page + step >= pages, onclick: () => {
                page += step;
                panel.renew();
            },
        }, words);
        const draw = (width) => {
            const drawn = drawByCell(figure, page, width);
            page = drawn.page ?? 0;
            pager.replaceChildren(...(drawn.pages > 1 ? [turn("Previous cells", drawn.pages, -1), ` ${page + 1} of ${drawn.pages} `, turn("Next cells", drawn.pages, 1)] : []));
            return drawn;
        };
        // One of the charts is enough for all figures.
        const choices = index > 0 || figures.length < 2 ? [] : [menu("Figure", figures.map((one) => [one.label, one.name]), (name) => {
            figure = figureNamed(name);
            page = 0;
            panel.name(titleOf(figure), wordsAbove(figure), action);
            panel.renew();
        }, figure.name)];
        const panel = new Panel(parent, {
            id: "cells-" + (index + 1), heading: "h2", title: titleOf(figure), hint: wordsAbove(figure), action, controls: [pager, ...choices], draw,
        });
    });
}
