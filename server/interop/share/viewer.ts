/** The style of a shared file. */
export const VIEWER_STYLE = `
:root{color-scheme:light dark;--bg:#fbfaf8;--ink:#211d26;--ink2:#5d5765;--line:#ddd8e0;--card:#fff;--accent:#7a3fc4;--run:#2f6fd0;--ok:#1f8a52;--bad:#c2352d;--wait:#a86a00}
@media (prefers-color-scheme:dark){:root{--bg:#17141b;--ink:#eeeaf2;--ink2:#a8a1b1;--line:#3a3442;--card:#221e28;--accent:#b98bf0;--run:#6ea3f2;--ok:#4fc287;--bad:#f0776f;--wait:#e0a63e}}
*{box-sizing:border-box}body{margin:0;font:14px/1.45 system-ui,sans-serif;background:var(--bg);color:var(--ink);height:100dvh;display:flex;flex-direction:column}
header{padding:10px 16px;border-bottom:1px solid var(--line);display:flex;flex-wrap:wrap;gap:4px 16px;align-items:baseline}h1{font-size:16px;margin:0}header span{color:var(--ink2);font-size:13px;font-variant-numeric:tabular-nums}
main{flex:1;min-height:0;display:flex}#drawing{flex:1;min-width:0;overflow:auto}svg{display:block;width:100%;height:100%;min-height:220px}
aside{width:min(30rem,45%);border-left:1px solid var(--line);overflow:auto;padding:12px 16px}
@media (max-width:760px){main{flex-direction:column}#drawing{flex:none;height:42%}aside{width:auto;flex:1;border-left:0;border-top:1px solid var(--line)}}
footer{border-top:1px solid var(--line);padding:8px 16px;display:flex;gap:12px;align-items:center}footer input{flex:1;min-width:0;accent-color:var(--accent)}
button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:4px 10px;min-height:32px;cursor:pointer}button:focus-visible,input:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
h2{font-size:13px;color:var(--ink2);margin:16px 0 6px}pre{white-space:pre-wrap;overflow-wrap:anywhere;font:12px/1.5 ui-monospace,monospace;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:8px;margin:4px 0;max-height:24rem;overflow:auto}
ol,ul{margin:0;padding:0;list-style:none}li{padding:3px 0;border-top:1px solid var(--line)}li[aria-current]{color:var(--accent);font-weight:600}
rect{fill:var(--card);stroke:var(--line);stroke-width:1.5}text{fill:var(--ink);font:600 14px system-ui,sans-serif}text.k{fill:var(--ink2);font:12px system-ui,sans-serif}path{fill:none;stroke:var(--line);stroke-width:2}path.on{stroke:var(--accent)}
.running rect,.ready rect{stroke:var(--run);stroke-width:3}.completed rect{stroke:var(--ok);stroke-width:2.5}.failed rect{stroke:var(--bad);stroke-width:3}.waiting rect{stroke:var(--wait);stroke-width:3}.skipped,.cancelled{opacity:.45}
`;

/** The script of a shared file: it reads the data block, and writes by textContent alone. */
export const VIEWER_SCRIPT = `"use strict";
(function () {
  var run = JSON.parse(document.getElementById("run").textContent);
  var by = function (id) { return document.getElementById(id); };
  var SVG = "http://www.w3.org/2000/svg", W = 208, H = 72;
  function el(parent, name, text, attrs) {
    var made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    for (var key in attrs || {}) made.setAttribute(key, attrs[key]);
    parent.appendChild(made);
    return made;
  }
  function svg(parent, name, attrs, text) {
    var made = document.createElementNS(SVG, name);
    for (var key in attrs) made.setAttribute(key, attrs[key]);
    if (text !== undefined) made.textContent = text;
    parent.appendChild(made);
    return made;
  }
  function time(ms) { return ms < 1000 ? ms + " ms" : ms < 60000 ? (ms / 1000).toFixed(1) + " s" : Math.floor(ms / 60000) + " min " + Math.round((ms % 60000) / 1000) + " s"; }
  function money(usd) { return "$" + (usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)); }
  function clip(text, most) { return text.length > most ? text.slice(0, most - 1) + "…" : text; }

  var places = new Map(run.nodes.map(function (node) { return [node.id, node]; }));
  var cards = new Map(), statuses = new Map(), lines = new Map();
  var xs = run.nodes.map(function (n) { return n.x; }), ys = run.nodes.map(function (n) { return n.y; });
  var left = Math.min.apply(null, xs.concat([0])) - 30, top = Math.min.apply(null, ys.concat([0])) - 30;
  var right = Math.max.apply(null, xs.concat([0])) + W + 30, bottom = Math.max.apply(null, ys.concat([0])) + H + 30;
  var drawing = svg(by("drawing"), "svg", { viewBox: [left, top, right - left, bottom - top].join(" "), role: "img", "aria-label": "Drawing of the run" });
  run.edges.forEach(function (edge) {
    var a = places.get(edge.from), b = places.get(edge.to);
    if (!a || !b) return;
    var x1 = a.x + W, y1 = a.y + H / 2, x2 = b.x, y2 = b.y + H / 2, bend = Math.max(40, Math.abs(x2 - x1) / 2);
    lines.set(edge.id, svg(drawing, "path", { d: "M" + x1 + " " + y1 + " C" + (x1 + bend) + " " + y1 + " " + (x2 - bend) + " " + y2 + " " + x2 + " " + y2 }));
    if (edge.label) svg(drawing, "text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 6, "text-anchor": "middle", "class": "k" }, clip(edge.label, 24));
  });
  run.nodes.forEach(function (node) {
    var group = svg(drawing, "g", {});
    svg(group, "rect", { x: node.x, y: node.y, width: W, height: H, rx: 12 });
    svg(group, "text", { x: node.x + 14, y: node.y + 30 }, clip(node.name, 24));
    statuses.set(node.id, svg(group, "text", { x: node.x + 14, y: node.y + 52, "class": "k" }, ""));
    svg(group, "title", {}, node.name + " (" + node.kind + ")");
    cards.set(node.id, group);
  });

  by("name").textContent = run.name;
  by("status").textContent = run.status.toLowerCase() + (run.simulated ? ", simulated" : "") + ", " + new Date(run.began).toLocaleString();
  var slider = by("at"), last = run.steps.length - 1;
  slider.max = String(Math.max(0, last));
  slider.value = slider.max;

  function at(index) {
    var nodes = new Map(), taken = new Set(), state = new Map(), tokens = 0, cost = 0;
    for (var i = 0; i <= index && i <= last; i++) {
      var step = run.steps[i];
      Object.keys(step.nodes || {}).forEach(function (id) { nodes.set(id, step.nodes[id]); });
      (step.edges || []).forEach(function (id) { taken.add(id); });
      Object.keys(step.set || {}).forEach(function (key) { state.set(key, step.set[key]); });
      (step.gone || []).forEach(function (key) { state.delete(key); });
      if (step.tokens !== undefined) { tokens = step.tokens; cost = step.cost; }
    }
    return { nodes: nodes, taken: taken, state: state, tokens: tokens, cost: cost };
  }
  function show() {
    var index = Number(slider.value), step = run.steps[index], now = at(index);
    if (!step) return;
    cards.forEach(function (card, id) {
      var seen = now.nodes.get(id);
      card.setAttribute("class", seen ? seen.status : "idle");
      statuses.get(id).textContent = (seen ? seen.status : places.get(id).kind) + (seen && seen.count > 1 ? " ×" + seen.count : "");
    });
    lines.forEach(function (line, id) { line.setAttribute("class", now.taken.has(id) ? "on" : ""); });
    by("took").textContent = time(step.at) + ", " + now.tokens + " tokens, " + money(now.cost) + (run.unknown_cost ? " and prices nobody knows" : "");
    slider.setAttribute("aria-valuetext", "Step " + (index + 1) + " of " + (last + 1) + ": " + step.text);
    var panel = by("panel");
    panel.textContent = "";
    el(panel, "h2", "Step " + (index + 1) + " of " + (last + 1));
    el(panel, "p", step.text);
    (step.detail || []).forEach(function (part) { el(panel, "h2", part.title); el(panel, "pre", part.text, { tabindex: "0" }); });
    el(panel, "h2", "Around it");
    var list = el(panel, "ol");
    for (var i = Math.max(0, index - 6); i <= Math.min(last, index + 6); i++) {
      var row = el(list, "li", time(run.steps[i].at) + "  " + run.steps[i].text);
      if (i === index) row.setAttribute("aria-current", "true");
    }
    if (run.choice.state) {
      el(panel, "h2", "State");
      if (now.state.size === 0) el(panel, "p", "Nothing yet");
      now.state.forEach(function (value, key) {
        el(panel, "h2", key);
        el(panel, "pre", typeof value === "string" ? value : JSON.stringify(value, null, 2), { tabindex: "0" });
      });
    }
    if (run.files.length > 0) {
      el(panel, "h2", "Files at the end");
      run.files.forEach(function (file) {
        var fold = el(panel, "details");
        el(fold, "summary", file.path + ", " + file.size + " bytes");
        el(fold, "pre", file.text, { tabindex: "0" });
      });
    }
  }
  function move(by_) { slider.value = String(Math.min(last, Math.max(0, Number(slider.value) + by_))); show(); }
  var timer = null;
  function stop() { clearInterval(timer); timer = null; by("play").textContent = "Play"; }
  slider.addEventListener("input", function () { stop(); show(); });
  by("back").addEventListener("click", function () { stop(); move(-1); });
  by("forward").addEventListener("click", function () { stop(); move(1); });
  by("play").addEventListener("click", function () {
    if (timer) { stop(); return; }
    if (Number(slider.value) >= last) slider.value = "0";
    by("play").textContent = "Pause";
    show();
    timer = setInterval(function () { if (Number(slider.value) >= last) stop(); else move(1); }, Math.max(60, Math.min(500, 20000 / Math.max(1, last))));
  });
  show();
})();
`;
