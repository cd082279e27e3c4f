/** The style of a shared file. */
export const VIEWER_STYLE = `
:root{color-scheme:light dark;--bg:#faf9f6;--stage:#f5f3ef;--ink:#241d24;--ink2:#5c545c;--line:#dedad4;--edge:#96908f;--card:#fff;--accent:#7c2357;--run:#2f66c4;--ok:#1c7f4d;--bad:#c2352d;--wait:#9a5b00}
@media (prefers-color-scheme:dark){:root{--bg:#1a151a;--stage:#141014;--ink:#efece8;--ink2:#b3acb2;--line:#413a41;--edge:#7c747c;--card:#252025;--accent:#f092c4;--run:#84b4f4;--ok:#5fcf95;--bad:#f48a80;--wait:#e6b04e}}
*{box-sizing:border-box}body{margin:0;font:14px/1.45 system-ui,sans-serif;background:var(--bg);color:var(--ink);height:100dvh;display:flex;flex-direction:column}
header{padding:10px 16px;border-bottom:1px solid var(--line);display:flex;flex-wrap:wrap;gap:4px 16px;align-items:baseline}h1{font-size:18px;margin:0}header span{color:var(--ink2);font-size:13px;font-variant-numeric:tabular-nums}
main{flex:1;min-height:0;display:flex}#canvas{flex:1;min-width:0;overflow:auto;background:var(--stage);display:flex}svg{display:block;flex:none;margin:auto;max-width:100%;max-height:100%}
aside{width:min(30rem,45%);border-left:1px solid var(--line);overflow:auto;padding:12px 16px}
@media (max-width:760px){main{flex-direction:column}#canvas{flex:none;height:38%}svg{max-width:none;max-height:none}aside{width:auto;flex:1;border-left:0;border-top:1px solid var(--line)}}
footer{border-top:1px solid var(--line);padding:8px 16px;display:flex;gap:12px;align-items:center}footer input{flex:1;min-width:0;accent-color:var(--accent)}
button{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:4px 10px;min-height:32px;cursor:pointer}button:focus-visible,input:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
h2{font-size:13px;color:var(--ink2);margin:16px 0 6px}pre{white-space:pre-wrap;overflow-wrap:anywhere;font:12px/1.5 ui-monospace,monospace;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:8px;margin:4px 0;max-height:24rem;overflow:auto}
ol,ul{margin:0;padding:0;list-style:none}li{padding:3px 0;border-top:1px solid var(--line)}li[aria-current]{color:var(--accent);font-weight:600}
rect{fill:var(--card);stroke:var(--line);stroke-width:1.5}text{fill:var(--ink);font:600 14px system-ui,sans-serif}text.k{fill:var(--ink2);font:12px system-ui,sans-serif}path{fill:none;stroke:var(--edge);stroke-width:1.5}path.on{stroke:var(--ok);stroke-width:2.5}path.tip{fill:var(--edge);stroke:none}text.l{fill:var(--ink2);font:12px system-ui,sans-serif;paint-order:stroke;stroke:var(--stage);stroke-width:4px}
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
  function money(usd) { return usd === 0 ? "$0" : "$" + (usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)); }
  function clip(text, most) { return text.length > most ? text.slice(0, most - 1) + "…" : text; }

  var places = new Map(run.nodes.map(function (node) { return [node.id, node]; }));
  var cards = new Map(), statuses = new Map(), lines = new Map(), labels = [];
  var xs = run.nodes.map(function (n) { return n.x; }), ys = run.nodes.map(function (n) { return n.y; });
  var left = Math.min.apply(null, xs.concat([0])) - 44, top = Math.min.apply(null, ys.concat([0])) - 44;
  var right = Math.max.apply(null, xs.concat([0])) + W + 44, bottom = Math.max.apply(null, ys.concat([0])) + H + 44;
  var wide = right - left, high = bottom - top;
  var picture = svg(by("canvas"), "svg", { viewBox: [left, top, wide, high].join(" "), width: wide, height: high, role: "img", "aria-label": "Graph of the run" });
  var tip = svg(svg(picture, "defs", {}), "marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" });
  svg(tip, "path", { d: "M0 0 L8 4 L0 8 z", "class": "tip" });

  // A line is a soft curve if no card is in between; otherwise it follows a gap between the cards.
  function isFree(x, y, ends) {
    return run.nodes.every(function (node) {
      return ends.indexOf(node) >= 0 || x < node.x - 6 || x > node.x + W + 6 || y < node.y - 6 || y > node.y + H + 6;
    });
  }
  function isWayFree(points) {
    for (var i = 1; i < points.length; i++)
      for (var t = 0; t <= 1; t += 0.02)
        if (!isFree(points[i - 1][0] + (points[i][0] - points[i - 1][0]) * t, points[i - 1][1] + (points[i][1] - points[i - 1][1]) * t, [])) return false;
    return true;
  }
  function curve(a, b, p, q) {
    var bend = (q[0] - p[0]) / 2;
    for (var t = 0; t <= 1; t += 0.05) {
      var u = 1 - t, k = 3 * u * t, x = p[0] * u * u * u + (p[0] + bend) * k * u + (q[0] - bend) * k * t + q[0] * t * t * t;
      if (!isFree(x, p[1] * u * u * (u + 3 * t) + q[1] * t * t * (t + 3 * u), [a, b])) return null;
    }
    return "M" + p + " C" + (p[0] + bend) + " " + p[1] + " " + (q[0] - bend) + " " + q[1] + " " + q;
  }
  function around(p, q, nth) {
    var out = 18 + 6 * (nth % 3), middle = (p[1] + q[1]) / 2, best = null;
    run.nodes.forEach(function (node) {
      [node.y - 16 - 6 * (nth % 3), node.y + H + 16 + 6 * (nth % 3)].forEach(function (y) {
        var way = [[p[0] + out, p[1]], [p[0] + out, y], [q[0] - out, y], [q[0] - out, q[1]]];
        var cost = Math.abs(y - middle) + (isWayFree(way) ? 0 : 1e6);
        if (best === null || cost < best.cost) best = { way: way, cost: cost };
      });
    });
    var points = [p].concat(best ? best.way : [], [q]), d = "M" + p;
    for (var i = 1; i < points.length - 1; i++) {
      var here = points[i], r = 9;
      var toward = function (other) {
        var dx = other[0] - here[0], dy = other[1] - here[1], far = Math.hypot(dx, dy) || 1, part = Math.min(r, far / 2) / far;
        return [here[0] + dx * part, here[1] + dy * part];
      };
      d += " L" + toward(points[i - 1]) + " Q" + here + " " + toward(points[i + 1]);
    }
    return d + " L" + q;
  }
  run.edges.forEach(function (edge, nth) {
    var a = places.get(edge.from), b = places.get(edge.to);
    if (!a || !b) return;
    var ways = run.edges.filter(function (other) { return other.from === edge.from; }), turn = ways.indexOf(edge) + 1;
    var p = [a.x + W, a.y + (H * turn) / (ways.length + 1)], q = [b.x, b.y + H / 2];
    var d = (q[0] > p[0] + 24 && curve(a, b, p, q)) || around(p, q, nth);
    lines.set(edge.id, svg(picture, "path", { d: d, "marker-end": "url(#tip)" }));
    if (edge.label) labels.push([p[0] + 8, p[1] - 5, edge.label]);
  });
  run.nodes.forEach(function (node) {
    var group = svg(picture, "g", {});
    svg(group, "rect", { x: node.x, y: node.y, width: W, height: H, rx: 12 });
    svg(group, "text", { x: node.x + 14, y: node.y + 30 }, clip(node.name, 24));
    statuses.set(node.id, svg(group, "text", { x: node.x + 14, y: node.y + 52, "class": "k" }, ""));
    svg(group, "title", {}, node.name + " (" + node.kind + ")");
    cards.set(node.id, group);
  });
  labels.forEach(function (label) { svg(picture, "text", { x: label[0], y: label[1], "class": "l" }, clip(label[2], 24)); });

  by("name").textContent = run.name;
  by("status").textContent = run.status.toLowerCase() + (run.simulated ? ", answered by the offline demo, not by an AI" : "") + ", " + new Date(run.began).toLocaleString();
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
    if (step.node && cards.has(step.node)) cards.get(step.node).scrollIntoView({ block: "nearest", inline: "nearest" });
    lines.forEach(function (line, id) { line.setAttribute("class", now.taken.has(id) ? "on" : ""); });
    by("took").textContent = time(step.at) + ", " + now.tokens + " tokens, " + money(now.cost) + (run.unknown_cost ? " plus calls with unknown prices" : "");
    slider.setAttribute("aria-valuetext", "Step " + (index + 1) + " of " + (last + 1) + ": " + step.text);
    var panel = by("panel");
    panel.textContent = "";
    el(panel, "h2", "Step " + (index + 1) + " of " + (last + 1));
    el(panel, "p", step.text);
    (step.detail || []).forEach(function (part) { el(panel, "h2", part.title); el(panel, "pre", part.text, { tabindex: "0" }); });
    el(panel, "h2", "Nearby steps");
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
