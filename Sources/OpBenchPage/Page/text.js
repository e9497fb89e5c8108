// Figures and names for people, and elements made of text: nothing here parses markup, so no name in a file can become
// markup.

const absent = "–";

/** Invisible characters and direction overrides are written as escapes; the joiners of emoji stay. */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;
function visible(text) {
    return String(text).replace(unprintable, (found) => "\\u{" + found.codePointAt(0).toString(16) + "}");
}

/** An element with attributes and children; children that are not elements become text. */
function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === undefined || value === null || value === false) continue;
        if (key === "class") made.className = value;
        else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
        else made.setAttribute(key, value === true ? "" : value);
    }
    for (const child of children.flat()) {
        if (child === undefined || child === null) continue;
        made.append(child instanceof Node ? child : visible(child));
    }
    return made;
}

/** An SVG element. */
function vector(name, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
}

/** Three significant digits, without a meaningless fraction. */
function digits(figure) {
    const size = Math.abs(figure);
    if (figure === Math.round(figure) && size < 1e6) return String(figure);
    if (size < 0.0005) return "0";
    return figure.toFixed(size < 0.0995 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/** Two decimals; three digits below a tenth. */
function factor(figure) {
    const size = Math.abs(figure);
    if (size >= 10) return digits(figure);
    return figure.toFixed(size < 0.0995 && size > 0 ? Math.min(7, 2 - Math.floor(Math.log10(size))) : 2);
}

const units = {
    ns: { step: 1000, names: [" ns", " µs", " ms", " s"] },
    B: { step: 1024, names: [" B", " KiB", " MiB", " GiB", " TiB"] },
    "1/s": { step: 1000, names: ["/s", "k/s", "M/s", "G/s", "T/s"] },
    count: { step: 1000, names: ["", "k", "M", "G", "T"] },
    1: { step: Infinity, names: ["×"], write: factor },
};

/** The format of a figure of that size: its divisor, digits and suffix. */
function scaleOf(figure, unit) {
    const { step, names, write = digits } = units[unit] ?? units.count;
    let [size, divisor, place] = [Math.abs(figure), 1, 0];
    while (size >= step - 0.5 && place < names.length - 1) {
        size /= step;
        divisor *= step;
        place += 1;
    }
    return { divisor, write, name: names[place] };
}

const isFigure = (figure) => figure !== null && figure !== undefined && Number.isFinite(figure);

/** The shortest form of a figure, for axes. */
function tickName(figure, unit) {
    if (unit === "1") return Number(figure.toPrecision(3)) + "×";
    // Otherwise a tiny figure would be written as 0.
    if (unit === "count" && figure !== 0 && Math.abs(figure) < 0.0995) return String(Number(figure.toPrecision(2)));
    return quantity(figure, unit);
}

/** A figure in its unit; a dash if it is absent. */
function quantity(figure, unit) {
    if (!isFigure(figure)) return absent;
    const { divisor, write, name } = scaleOf(figure, unit);
    return write(figure / divisor) + name;
}

/** The ends of an interval, in the unit of the figure between them: `2.15–4.50` of `2.26 µs`. */
function interval(low, high, figure, unit) {
    if (![low, high, figure].every(isFigure)) return absent;
    const { divisor, write } = scaleOf(figure, unit);
    return write(low / divisor) + "–" + write(high / divisor);
}

/** A figure with its interval, if it has one: `2.26 µs (2.15–4.50)`. */
function quantityWithin(low, high, figure, unit) {
    return quantity(figure, unit) + (isFigure(low) && isFigure(high) ? ` (${interval(low, high, figure, unit)})` : "");
}

/** `−6 %`, `+0.4 %` */
function change(part) {
    const size = Math.abs(part) * 100;
    const text = size >= 9.95 ? size.toFixed(0) : size.toFixed(1).replace(/\.0$/, "");
    return (text === "0" ? "" : part < 0 ? "−" : "+") + text + " %";
}

function plural(count, one, many = one + "s") {
    return count.toLocaleString("en") + " " + (count === 1 ? one : many);
}

/** Offers a file to the reader, made of text in the page. */
function download(name, type, text) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** One field of a CSV file. Text that a spreadsheet would compute as a formula gets an apostrophe before it. */
function field(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(value) ? "'" + value : value;
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}
