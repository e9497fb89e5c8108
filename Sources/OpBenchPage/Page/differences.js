// Ratios of judged builds, runs or goals, with their margins.

const rowsOfDifferences = 24;

function drawDifferences(judged, list, page, width) {
    const part = list.slice(page * rowsOfDifferences, (page + 1) * rowsOfDifferences).filter(([, , backend]) => !choice.hidden.has(data.backends.indexOf(backend)));
    if (part.length === 0) return "No ratio is visible.";
    const isOfGoals = judged.kind === "goals";
    const bounds = part.flatMap(([, , , ratio, from, to, margin]) => [ratio, from, to, ...(margin === null ? [] : isOfGoals ? [margin] : [1 + margin, 1 / (1 + margin)])]);
    const made = scaleFor(bounds.filter((bound) => bound === null || bound > 0), { unit: "1", isLog: true, reference: 1 });
    // Up to several times as much, differences in percent are easy to read.
    const scale = isOfGoals || made.max - made.min > Math.log10(8) ? made : { ...made, ticks: (from, to) => made.ticks(from, to).map(([tick]) => [tick, change(10 ** tick - 1)]) };
    const labels = part.map(([, , backend, , , , , cell, figure]) => `${figure}, ${backend}, ${cell}`);
    const axisOfNames = nameAxis(labels, width);
    const hue = (verdict) => css({ bad: "--bad", good: "--good", open: "--open" }[kindOf[verdict]] ?? "--muted");
    const points = part.map((row, index) => ({ value: [scale.at(row[3]), index], row, index }));
    return {
        option: {
            grid: { left: axisOfNames.room, right: 40, top: 8, bottom: 48 },
            xAxis: axis(scale, isOfGoals ? "ratio" : "head ÷ base (logarithmic)", { isNarrow: isNarrow(width) }), yAxis: axisOfNames.option,
            series: [{
                type: "custom", clip: true, data: points, encode: { x: 0, y: 1 },
                renderItem: ({ dataIndex }, api) => {
                    const { index, row: [, verdict, backend, ratio, from, to, margin] } = points[dataIndex];
                    const at = (figure) => api.coord([scale.at(figure), index]);
                    const band = api.size([0, 1])[1] * 0.7;
                    const known = data.backends.indexOf(backend);
                    const mark = markWithInterval(at(ratio), from > 0 ? at(from) : null, to > 0 && from > 0 ? at(to) : null, known < 0 ? "circle" : symbol(known), hue(verdict));
                    if (margin !== null && margin > 0) {
                        const [left, right] = isOfGoals ? [at(margin)[0] - 1, at(margin)[0] + 1] : [at(1 / (1 + margin))[0], at(1 + margin)[0]];
                        mark.children.unshift({ type: "rect", shape: { x: left, y: at(ratio)[1] - band / 2, width: right - left, height: band }, style: { fill: css("--muted"), opacity: isOfGoals ? 0.8 : 0.16 } });
                    }
                    return mark;
                },
                tooltip: {
                    formatter: ({ dataIndex }) => {
                        const [texts, verdict] = points[dataIndex].row;
                        return tip(texts[0], [...judged.columns.slice(1).map(([title], index) => `${title}: ${texts[index + 1]}`), verdict === "" ? "not judged" : ""]);
                    },
                },
            }, referenceLine(0, "")],
        },
        scales: { x: scale }, height: 64 + part.length * Math.max(27, roomFor(labels, width)), label: `${judged.title}: ratios with intervals, ${part.length} of ${list.length}.`,
        table: { head: judged.columns.map(([title]) => title), rows: part.map(([texts]) => texts) },
    };
}

function showDifferences() {
    const judgedOnes = data.verdicts.filter((judged) => judged.rows.some((row) => row[3] !== null && row[3] > 0));
    if (judgedOnes.length === 0) return;
    const parent = section("differences", "Differences");
    judgedOnes.forEach((judged, index) => {
        const list = judged.rows.filter((row) => row[3] !== null && row[3] > 0);
        let page = 0;
        let isAll = list.every(([, verdict]) => verdict === "");
        const asked = list.filter(([, verdict]) => verdict !== "").sort((a, b) => weightOf[a[1]] - weightOf[b[1]]);
        const shown = () => (isAll ? list : asked);
        const pager = element("div", { class: "controls" });
        const showPager = () => {
            const pages = Math.ceil(shown().length / rowsOfDifferences);
            const turn = (words, step) => element("button", {
                type: "button", disabled: page + step < 0 || page + step >= pages, onclick: () => {
                    page += step;
                    showPager();
                    panel.renew();
                },
            }, words);
            pager.replaceChildren(...(pages > 1 ? [turn("Previous", -1), element("span", {}, `${page + 1} of ${pages}`), turn("Next", 1)] : []));
        };
        const controls = asked.length > 0 && asked.length < list.length
            ? [menu("Figures", [["judged", "judged"], ["all", "all"]], (name) => {
                isAll = name === "all";
                page = 0;
                showPager();
                panel.renew();
            }), pager] : [pager];
        const panel = new Panel(parent, {
            id: "difference-" + index, title: judged.title, controls, legend: false,
            hint: judged.kind === "goals" ? "A mark is a ratio with its 95 % interval; the bar is the bound." : "A mark is head ÷ base with its 95 % interval; grey is the margin within which a figure passes.",
            draw: (width) => drawDifferences(judged, shown(), page, width),
        });
        showPager();
    });
}
