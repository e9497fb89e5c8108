// Figures and names as people read them, and elements made of text: nothing here takes markup, so that no name in a file
// becomes any.

const absent = "–";

/** What has no shape of its own, or turns the direction of reading, is written out; the joiners of emoji stay. */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;
function visible(text) {
    return String(text).replace(unprintable, (found) => "\\u{" + found.codePointAt(0).toString(16) + "}");
}

/** An element with attributes and children; children that are no elements become text. */
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

/** Three significant digits, without a fraction that says nothing. */
function digits(figure) {
    const size = Math.abs(figure);
    if (figure === Math.round(figure) && size < 1e6) return String(figure);
    if (size < 0.0005) return "0";
    return figure.toFixed(size < 0.0995 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

function scaled(figure, step, units, separator = " ") {
    let unit = 0;
    while (Math.abs(figure) >= step - 0.5 && unit < units.length - 1) {
        figure /= step;
        unit += 1;
    }
    return digits(figure) + separator + units[unit];
}

const write = {
    ns: (figure) => scaled(figure, 1000, ["ns", "µs", "ms", "s"]),
    B: (figure) => scaled(figure, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]),
    "1/s": (figure) => write.count(figure) + "/s",
    count: (figure) => (Math.abs(figure) < 1000 ? digits(figure) : scaled(figure, 1000, ["", "k", "M", "G", "T"], "")),
    ratio: (figure) => (Math.abs(figure) < 0.0995 && figure !== 0 ? Number(figure.toPrecision(3)) + "×"
        : Math.abs(figure) < 10 ? figure.toFixed(2) + "×" : digits(figure) + "×"),
};

/** A figure beside an axis, as short as it can be. */
const tickName = (figure, unit) => (unit === "ratio" ? Number(figure.toPrecision(3)) + "×" : quantity(figure, unit));

/** A figure in its unit; a dash where there is none. */
function quantity(figure, unit) {
    return figure === null || figure === undefined || !Number.isFinite(figure) ? absent : (write[unit] ?? write.count)(figure);
}

/** `−6 %`, `+0.4 %` */
function change(part) {
    const size = Math.abs(part) * 100;
    const text = size >= 9.95 ? size.toFixed(0) : size.toFixed(1).replace(/\.0$/, "");
    return (text === "0" ? "" : part < 0 ? "−" : "+") + text + " %";
}

/** The ends of an interval, each as far from the figure as it is. */
function interval(low, high, figure) {
    return figure ? change(low / figure - 1) + " " + change(high / figure - 1) : "";
}

function plural(count, one, many = one + "s") {
    return count.toLocaleString("en") + " " + (count === 1 ? one : many);
}

/** A file for the reader to keep, made of text that is in the page. */
function download(name, type, text) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** One field of a CSV file. Text that a spreadsheet would take for a formula has an apostrophe before it. */
function field(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) && !/^[+-]?[\d.]+(e[+-]?\d+)?$/i.test(value) ? "'" + value : value;
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}
