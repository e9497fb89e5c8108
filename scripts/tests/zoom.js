// Runs the script of a flame graph with the parts of a document that it uses, clicks on each bar, and prints the positions
// of all shown bars after each click. Arguments: a JSON file with the bars' attributes, the script.
"use strict";

const fs = require("fs");
const bars = JSON.parse(fs.readFileSync(process.argv[2], "utf8")).map(function (bar) {
    function element(attributes) {
        return {
            attributes: attributes,
            getAttribute: function (name) { return attributes[name]; },
            setAttribute: function (name, value) { attributes[name] = String(value); },
        };
    }
    const parts = { rect: element(bar.rect), text: element(bar.text), title: { textContent: bar.title } };
    const group = element(bar.group);
    group.parts = parts;
    group.style = {};
    group.handlers = {};
    group.querySelector = function (name) { return parts[name]; };
    group.addEventListener = function (name, handler) { group.handlers[name] = handler; };
    return group;
});
const detail = {};
const document = {
    querySelectorAll: function (selector) { return selector === "g.b" ? bars : []; },
    getElementById: function (id) { return id === "detail" ? detail : null; },
};
new Function("document", fs.readFileSync(process.argv[3], "utf8"))(document);
console.log(JSON.stringify(bars.map(function (clicked) {
    clicked.handlers.mouseover();
    clicked.handlers.click();
    const shown = bars.map(function (bar) {
        const rect = bar.parts.rect.attributes;
        return bar.style.display === "none" ? null : [parseFloat(rect.x), parseFloat(rect.width)];
    });
    return { detail: detail.textContent, shown: shown, text: clicked.parts.text.textContent };
})));
