// Figures over many runs, with their change points.

function drawTrend(group, width) {
    const list = group.members.filter((series) => !choice.hidden.has(data.backends.indexOf(series.backend)));
    const runs = [];
    const place = new Map();
    for (const series of list) {
        for (const [run, date, commit] of series.points) {
            if (place.has(run)) continue;
            place.set(run, runs.length);
            runs.push({ run, date, commit });
        }
    }
    if (runs.length === 0) return "No run has this figure.";
    runs.sort((a, b) => collator.compare(a.date, b.date));
    runs.forEach((one, index) => place.set(one.run, index));
    const unit = list[0].unit;
    const points = list.flatMap((series) => series.points.filter((point) => point[3] !== null).map((point) => ({ series, point })));
    const y = scaleFor(points.flatMap(({ point }) => point.slice(3)), { unit });
    const x = {
        min: -0.5, max: runs.length - 0.5, isLogarithmic: false,
        ticks: (from, to) => {
            const every = Math.max(1, Math.ceil((to - from) / Math.max(2, width / 110)));
            return runs.map((one, index) => [index, one.date.slice(0, 10)]).filter(([index]) => index % every === 0 && index >= from && index <= to);
        },
    };
    const at = ({ point }) => [place.get(point[0]), y.at(point[3])];
    // What changed around the code, by run: the same for all series, except the builds of two sides.
    const around = new Map();
    for (const series of list) {
        for (const [index, titles, lines] of series.surroundings) {
            const run = series.points[index]?.[0];
            if (run !== undefined && !around.has(run)) around.set(run, { titles, lines });
        }
    }
    return {
        option: {
            grid: { left: 80, right: 40, top: 24, bottom: 48 },
            xAxis: axis(x, "run, by date"), yAxis: axis(y, visible(group.metric), { place: "y" }),
            series: [
                ...list.map((series) => {
                    const backend = data.backends.indexOf(series.backend);
                    const own = series.points.filter((point) => point[3] !== null);
                    return {
                        type: "line", silent: true, showSymbol: false, lineStyle: { color: colour(backend), width: 1.5 },
                        data: own.map((point) => [place.get(point[0]), y.at(point[3])]),
                        markLine: {
                            symbol: "none", silent: true, animation: false, lineStyle: { color: colour(backend), type: "dashed", width: 1.2 },
                            data: series.changes.filter(([index, , isOfCode]) => isOfCode && series.points[index] !== undefined).map(([index, ratio]) => ({
                                xAxis: place.get(series.points[index][0]) - 0.5,
                                label: { formatter: ratio === null ? "change" : change(ratio - 1), color: colour(backend), fontSize: 11 },
                            })),
                        },
                    };
                }),
                {
                    type: "scatter", data: [], silent: true, tooltip: { show: false },
                    markLine: {
                        symbol: "none", silent: true, animation: false, lineStyle: { color: css("--muted"), type: "dotted", width: 1.5 },
                        data: [...around].map(([run, { titles }]) => ({
                            xAxis: place.get(run) - 0.5, label: { formatter: visible(titles), color: css("--muted"), fontSize: 11, position: "insideEndTop" },
                        })),
                    },
                },
                {
                    type: "custom", clip: true, data: points.map((one) => ({ value: at(one) })), encode: { x: 0, y: 1 },
                    renderItem: ({ dataIndex }, api) => {
                        const { series, point } = points[dataIndex];
                        const [across, up] = at(points[dataIndex]);
                        const backend = data.backends.indexOf(series.backend);
                        const hasInterval = point[4] !== null && point[5] !== null && (!y.isLogarithmic || point[4] > 0);
                        return markWithInterval(api.coord([across, up]), hasInterval ? api.coord([across, y.at(point[4])]) : null, hasInterval ? api.coord([across, y.at(point[5])]) : null,
                            symbol(backend), colour(backend), { isVertical: true, size: 4 });
                    },
                    tooltip: {
                        formatter: ({ dataIndex }) => {
                            const { series, point } = points[dataIndex];
                            return tip(point[0], [point[1], point[2] ? "commit " + point[2].slice(0, 12) : "", `${series.backend}: ${quantity(point[3], unit)}`,
                                point[4] !== null && point[5] !== null ? `95 %: ${quantity(point[4], unit)} – ${quantity(point[5], unit)}` : "",
                                ...(around.get(point[0])?.lines ?? [])]);
                        },
                    },
                },
            ],
        },
        scales: { x, y }, height: 340, label: `${group.metric} of ${group.cell} over ${plural(runs.length, "run")}.`,
        backends: list.length ? [...new Set(group.members.map((series) => data.backends.indexOf(series.backend)))] : undefined,
        table: {
            head: ["run", "date", "backend", group.metric, "95 % interval", "change", "changed around the code"],
            rows: points.map(({ series, point }) => [point[0], point[1], series.backend, quantity(point[3], unit),
                point[4] === null || point[5] === null ? absent : quantity(point[4], unit) + " – " + quantity(point[5], unit),
                series.changes.filter(([index]) => series.points[index]?.[0] === point[0]).map(([, ratio]) => (ratio === null ? "here" : change(ratio - 1))).join() || absent,
                (around.get(point[0])?.lines ?? []).join("; ") || absent]),
        },
    };
}

function showTrends() {
    if (data.trends.length === 0) return;
    const groups = new Map();
    for (const series of data.trends) {
        const key = series.cell + "\n" + series.metric;
        if (!groups.has(key)) groups.set(key, { cell: series.cell, metric: series.metric, members: [] });
        groups.get(key).members.push(series);
    }
    const list = [...groups.values()];
    const changed = (group) => group.members.reduce((count, series) => count + series.changes.filter(([, , isOfCode]) => isOfCode).length, 0);
    list.sort((a, b) => changed(b) - changed(a));
    const parent = section("history");
    let group = list[0];
    const panel = new Panel(parent, {
        id: "trend", heading: "h2", title: "Over time",
        hint: `${plural(list.length, "figure")}; those with changes come first. Dashed lines: changes of the figure's level, with their size. Dotted lines: something around the code changed; a change of level there is in the table, since it may not be of the code. Runs at different times drift apart.`,
        controls: [menu("Figure", list.slice(0, mostChoices * 5).map((one, index) => [
            `${one.metric}: ${one.cell}${changed(one) > 0 ? ` (${plural(changed(one), "change")})` : ""}`, String(index)]), (index) => {
            group = list[Number(index)];
            panel.renew();
        })],
        draw: (width) => drawTrend(group, width),
    });
}
