// Common to all charts: axes with ticks, intervals, and a panel that draws when it comes into view, zooms by mouse and
// by buttons, follows the reader's choices, and repeats the figures as a table.

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Ticks at round figures: 1, 2 and 5 times powers of ten. */
function linearTicks(from, to, count = 6) {
    const span = to - from || Math.abs(from) || 1;
    const power = 10 ** Math.floor(Math.log10(span / count));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => span / size <= count) ?? power * 10;
    const ticks = [];
    for (let place = Math.ceil(from / step - 1e-9); place * step <= to + step * 1e-9; place += 1) {
        ticks.push(Number((place * step).toPrecision(12)));
    }
    return ticks;
}

/** Ticks of a logarithmic axis: as many per decade as fit. Those of ratios mirror at 1: a quarter, a half, 1, 2, 5. */
function logTicks(from, to, isRatio = false, count = 7) {
    const decades = Math.log10(to / from);
    if (decades < 0.7) return linearTicks(from, to, count).filter((tick) => tick > 0);
    const factors = decades * 3 <= count + 2 ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(decades / count));
    const ticks = [];
    for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power += 1) {
        if (factors.length === 1 && power % every !== 0) continue;
        for (const factor of factors) {
            const tick = Number(((isRatio && power < 0 && factor === 2 ? 2.5 : factor) * 10 ** power).toPrecision(12));
            if (tick >= from * 0.9999 && tick <= to * 1.0001) ticks.push(tick);
        }
    }
    return ticks;
}

/**
 * The scale of an axis. A linear one begins at 0, unless `isTight`; a logarithmic one is for positive figures that differ
 * thirtyfold, and for ratios, where a half and a double are equally far from 1.
 */
function scaleFor(list, { unit = "count", isLog = null, isTight = false, reference = null } = {}) {
    const finite = list.filter((figure) => figure !== null && Number.isFinite(figure));
    if (reference !== null) finite.push(reference);
    let from = Infinity;
    let to = -Infinity;
    for (const figure of finite) {
        from = Math.min(from, figure);
        to = Math.max(to, figure);
    }
    if (finite.length === 0) [from, to] = [0, 1];
    // Less than a twentieth of a call or byte per operation is practically 0, and needs no decades on the axis.
    const isNone = ["count", "B"].includes(unit) && from < 0.05 && to >= 1;
    const isLogarithmic = from > 0 && (isLog ?? (to / from > 30 && !isNone));
    const name = (figure) => tickName(figure, unit);
    if (isLogarithmic) {
        const margin = Math.max(1.06, (to / from) ** 0.05);
        [from, to] = [from / margin, to * margin];
        return {
            isLogarithmic, min: Math.log10(from), max: Math.log10(to), name, at: (figure) => Math.log10(figure),
            ticks: (low, high) => logTicks(10 ** low, 10 ** high, unit === "1").map((tick) => [Math.log10(tick), name(tick)]),
        };
    }
    const span = to - from || Math.abs(to) || 1;
    if (isTight) [from, to] = [from - span * 0.06, to + span * 0.06];
    else [from, to] = [Math.min(0, from < 0 ? from - span * 0.05 : 0), Math.max(0, to + (to - Math.min(0, from)) * 0.06) || 1];
    return {
        isLogarithmic, min: from, max: to, name, at: (figure) => figure,
        ticks: (low, high) => linearTicks(low, high).map((tick) => [tick, name(tick)]),
    };
}

/** The library's options for an axis with a scale of `scaleFor`. */
function axis(scale, title, { from = scale.min, to = scale.max, place = "x", isNarrow = false } = {}) {
    let ticks = scale.ticks(from, to);
    if (isNarrow && place === "x" && ticks.length > 4) ticks = ticks.filter((_, index) => index % 2 === 0);
    const names = new Map(ticks);
    const values = ticks.map(([tick]) => tick);
    return {
        type: "value", min: scale.min, max: scale.max, name: title, nameLocation: "middle",
        nameGap: place === "x" ? 30 : 62, nameTextStyle: { color: css("--muted"), fontSize: 12 },
        axisLine: { show: true, lineStyle: { color: css("--line") } },
        axisTick: { show: true, customValues: values, lineStyle: { color: css("--line") } },
        axisLabel: { customValues: values, formatter: (tick) => names.get(tick) ?? "", color: css("--muted"), fontSize: 12, hideOverlap: true },
        splitLine: { show: true, lineStyle: { color: css("--line"), opacity: 0.7 } },
    };
}

/** A mark within its interval, as the library draws it; `isVertical` for intervals along y. */
function markWithInterval(at, from, to, kind, hue, { isHollow = false, isDashed = false, isVertical = false, size = 5.5 } = {}) {
    const children = [];
    if (from && to) {
        const [a, b] = isVertical ? [from[1], to[1]] : [from[0], to[0]];
        const line = isVertical
            ? [[at[0], a, at[0], b], [at[0] - 4, a, at[0] + 4, a], [at[0] - 4, b, at[0] + 4, b]]
            : [[a, at[1], b, at[1]], [a, at[1] - 4, a, at[1] + 4], [b, at[1] - 4, b, at[1] + 4]];
        for (const [x1, y1, x2, y2] of line) {
            children.push({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: hue, lineWidth: 1.6, lineDash: isDashed ? [3, 3] : null } });
        }
    }
    children.push({
        type: "path", shape: { pathData: markPath(kind, size) }, x: at[0], y: at[1],
        style: { fill: isHollow ? css("--page") : hue, stroke: hue, lineWidth: isHollow ? 1.8 : 0.5 },
    });
    return { type: "group", children };
}

/** A tooltip with lines of text: elements, never markup. */
function tip(title, lines) {
    return element("div", {}, element("strong", {}, title),
        lines.filter((line) => line).map((line) => element("div", {}, line)));
}

const base = () => ({
    animation: false, backgroundColor: "transparent",
    textStyle: { color: css("--text"), fontFamily: getComputedStyle(document.body).fontFamily },
    tooltip: {
        trigger: "item", confine: true, backgroundColor: css("--page"), borderColor: css("--line"),
        textStyle: { color: css("--text"), fontSize: 13 }, extraCssText: "max-width: 30rem; white-space: normal;",
    },
});

/** Loads the chart library when the first chart is drawn: reading the cells needs none. */
function library() {
    if (window.echarts === undefined) {
        const { nonce } = document.querySelector("script[nonce]");
        const text = document.createTextNode(document.getElementById("library").textContent);
        document.head.append(element("script", { nonce }, text));
    }
    return window.echarts;
}

const panels = [];

/** Draws panels only when they come near the window. */
const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
        const panel = panels.find((one) => one.plot === entry.target);
        panel.isInView = entry.isIntersecting;
        if (panel.isInView) panel.drawIfStale();
    }
}, { rootMargin: "200px" });

/**
 * One chart with its title, hint, controls, legend and table.
 *
 * `draw(width)` returns { option, height, scales: { x, y }, label, table: { head, rows } } for the library, or the
 * finished SVG as `picture` in place of the option and the scales, or the reason why there is nothing to draw: an empty
 * one hides the panel.
 */
class Panel {
    constructor(parent, { id, title, hint, action = "", draw, controls = [], legend = true, heading = "h3" }) {
        this.draw = draw;
        this.chart = null;
        this.isStale = true;
        this.isInView = false;
        this.plot = element("div", { class: "plot" });
        this.heading = element(heading, {});
        this.hint = element("p", { class: "hint" });
        this.table = element("div", {});
        this.tools = element("div", { class: "controls unprinted" }, controls);
        this.plotTools = element("div", { class: "plot-tools unprinted" });
        this.saver = element("button", { type: "button", onclick: () => this.save() }, "Save as SVG");
        // The backends above the table are too far away on paper.
        this.legend = element("p", { class: "printed" });
        // The choices, for paper, where no menu and no pager shows them.
        this.caption = element("p", { class: "printed" });
        this.hasLegend = legend;
        this.details = element("details", { class: "unprinted" }, element("summary", {}, "The same as a table"), this.table);
        this.details.addEventListener("toggle", () => this.showTable());
        this.box = element("div", { class: "chart", id }, element("div", { class: "chart-head" }, element("div", {}, this.heading, this.hint), this.tools),
            this.caption, this.legend, this.plot, this.plotTools, this.details);
        this.name(title, hint, action);
        parent.append(this.box);
        panels.push(this);
        watcher.observe(this.plot);
    }

    /** Sets the heading and the line below it; paper leaves out the reader's possible action. */
    name(title, hint, action = "") {
        this.heading.textContent = visible(title);
        this.hint.replaceChildren(visible(hint), element("span", { class: "unprinted" }, " " + action));
        this.saver.setAttribute("aria-label", "Save as SVG: " + visible(title));
    }

    /** Redraws the panel after a possible change. */
    renew() {
        this.box.hidden = false;
        this.isStale = true;
        if (this.isInView) this.drawIfStale();
    }

    /** The axes that can be zoomed, in the library's order. */
    get places() { return ["x", "y"].filter((place) => this.drawn.scales?.[place]); }

    /** Buttons for each axis; two axes have labelled buttons. */
    showPlotTools() {
        const names = this.places.join();
        this.plotTools.hidden = false;
        if (this.plotTools.dataset.places === names) return;
        this.plotTools.dataset.places = names;
        const button = (words, part, place) => element("button", { type: "button", onclick: () => this.zoom(part, place) }, words);
        const sides = { x: " horizontally", y: " vertically" };
        this.plotTools.replaceChildren(...this.places.flatMap((place) => {
            const side = this.places.length > 1 ? sides[place] : "";
            return [button("Zoom in" + side, 0.5, place), button("Zoom out" + side, 2, place)];
        }), ...(names === "" ? [] : [button("Whole", 0)]), this.saver);
    }

    drawIfStale(width = this.plot.clientWidth) {
        if (!this.isStale || width === 0) return;
        this.isStale = false;
        const drawn = this.draw(width);
        this.drawn = drawn;
        const isEmpty = typeof drawn === "string";
        this.box.hidden = drawn === "";
        this.plotTools.hidden = true;
        this.caption.textContent = isEmpty ? "" : visible(drawn.label);
        this.details.hidden = isEmpty;
        if (isEmpty) {
            this.chart?.dispose();
            this.chart = null;
            this.plot.style.height = "auto";
            this.plot.style.minHeight = "0";
            this.plot.replaceChildren(element("p", { class: "muted" }, drawn));
            this.plot.setAttribute("role", "note");
            this.plot.removeAttribute("aria-label");
            this.legend.replaceChildren();
            return;
        }
        // A finished picture has links, which an image would hide.
        this.plot.setAttribute("role", drawn.picture ? "group" : "img");
        this.plot.setAttribute("aria-label", visible(drawn.label) + " The table below has the same figures.");
        this.plot.style.height = drawn.height + "px";
        this.plot.style.minHeight = "0";
        if (drawn.picture) this.plot.replaceChildren(drawn.picture);
        else this.drawByLibrary(width);
        this.showPlotTools();
        this.showLegend();
        this.showTable();
    }

    drawByLibrary(width) {
        if (this.chart === null) {
            this.plot.replaceChildren();
            this.chart = library().init(this.plot, null, { renderer: "svg" });
            this.chart.on("datazoom", () => this.retick());
        }
        this.chart.resize({ width, height: this.drawn.height });
        const zoomable = this.places.map((place) => ({
            type: "inside", [place + "AxisIndex"]: 0, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false,
            moveOnMouseMove: true, preventDefaultMouseMove: false,
        }));
        this.chart.setOption({ ...base(), ...this.drawn.option, dataZoom: zoomable }, { notMerge: true });
    }

    /** Chooses ticks for the visible range. */
    retick() {
        const scales = this.drawn.scales ?? {};
        const state = this.chart.getOption().dataZoom;
        const option = {};
        this.places.forEach((place, index) => {
            const { start, end } = state[index];
            const scale = scales[place];
            const at = (percent) => scale.min + (scale.max - scale.min) * percent / 100;
            const made = axis(scale, "", { from: at(start), to: at(end), place });
            option[place + "Axis"] = { axisTick: made.axisTick, axisLabel: made.axisLabel };
        });
        this.chart.setOption(option);
    }

    /** Zooms along one axis, or along all. 0 shows everything again. */
    zoom(part, place) {
        if (this.chart === null) return;
        this.chart.getOption().dataZoom.forEach(({ start, end }, dataZoomIndex) => {
            if (place !== undefined && this.places[dataZoomIndex] !== place) return;
            const half = Math.min(50, (end - start) / 2 * part || 50);
            const middle = part === 0 ? 50 : Math.min(Math.max((start + end) / 2, half), 100 - half);
            this.chart.dispatchAction({ type: "dataZoom", dataZoomIndex, start: middle - half, end: middle + half });
        });
    }

    /** The backends with marks in the panel. */
    get backends() {
        return this.hasLegend ? (this.drawn.backends ?? backendOrder).filter((backend) => !choice.hidden.has(backend)) : [];
    }

    showLegend() {
        this.legend.replaceChildren(...this.backends.flatMap((backend) => [backendMark(backend), ` ${data.backends[backend]} \u00a0 `]));
    }

    /** Saves a picture of the current state, with title, choices and legend. */
    save() {
        const [width, left, lineHeight, letter] = [this.plot.clientWidth, 12, 18, 7.5];
        const text = (x, y, words, look = {}) => vector("text", { x, y, fill: css("--text"), ...look }, visible(words));
        const most = Math.floor((width - 2 * left) / letter);
        const lines = visible(this.drawn.label).match(new RegExp(`.{1,${most}}(?:\\s|$)|.{${most}}`, "g")) ?? [];
        const parts = [text(left, 22, this.heading.textContent, { "font-weight": "bold" }),
            ...lines.map((line, index) => text(left, 22 + lineHeight * (index + 1), line.trim()))];
        let [x, y] = [left, 22 + lineHeight * (lines.length + 1)];
        for (const backend of this.backends) {
            const name = visible(data.backends[backend]);
            const room = 30 + name.length * letter;
            if (x > left && x + room > width) [x, y] = [left, y + lineHeight];
            parts.push(vector("path", { d: markPath(symbol(backend), 5), fill: colour(backend), transform: `translate(${x + 6} ${y - 4})` }),
                text(x + 18, y, name));
            x += room;
        }
        const plot = this.plot.querySelector("svg").cloneNode(true);
        plot.setAttribute("y", y + 8);
        const height = y + 8 + this.drawn.height;
        const picture = vector("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": base().textStyle.fontFamily, "font-size": 13 },
            vector("rect", { width, height, fill: css("--page") }), ...parts, plot);
        download(this.box.id + ".svg", "image/svg+xml", new XMLSerializer().serializeToString(picture));
    }

    showTable() {
        if (!this.details.open || typeof this.drawn !== "object") return;
        const { head, rows: list } = this.drawn.table;
        this.table.replaceChildren(element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The chart's figures" },
            element("table", {}, element("caption", {}, this.drawn.label),
                element("thead", {}, element("tr", {}, head.map((title) => element("th", { scope: "col", class: "text" }, title)))),
                element("tbody", {}, list.map((line) => element("tr", {}, line.map((text, place) => place === 0
                    ? element("th", { scope: "row", class: "text wide" }, text) : element("td", { class: "text" }, text))))))));
    }

    resize() {
        if (typeof this.drawn !== "object") return;
        this.renew();
    }
}

/** A checkbox with its label; `chosen` gets its state. */
function tick(label, chosen) {
    const box = element("input", { type: "checkbox" });
    box.addEventListener("change", () => chosen(box.checked));
    return element("label", { class: "tick" }, box, label);
}

/** A menu of choices with its label; `chosen` gets the value. */
function menu(label, options, chosen, selected) {
    const select = element("select", {}, options.map(([text, name]) => element("option", { value: name, selected: name === selected }, text)));
    select.addEventListener("change", () => chosen(select.value));
    return element("label", {}, label, select);
}
