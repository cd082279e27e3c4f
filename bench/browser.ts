import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { type Browser, chromium, type Page } from "@playwright/test";
import { build } from "vite";
import { TroupeProcess } from "../e2e/support/troupe-process";
import { CELL, grid } from "./grid";
import { type Figure, median, percentile } from "./table";

const PORT = 3225;
const NODES = 500;
/** How many cards are in view when zoomed out, and how many columns the grid has. */
const CROWD = 300;
const WIDE = 25;
const ROUNDS = 5;

/** What people feel: how soon a card changes, how soon a big drawing is there, how smoothly it moves, what is sent. */
export async function measureBrowser(): Promise<Figure[]> {
  const scratch = mkdtempSync(path.join(os.tmpdir(), "troupe-bench-"));
  const bare = await serveBarePage(path.join(scratch, "bare"));
  const server = new TroupeProcess(path.join(scratch, "data"), PORT, "token-of-the-benchmark", {
    TROUPE_OFFLINE_SPEED: "0",
  });
  await server.start();
  const executablePath = process.env.CHROMIUM_PATH || undefined;
  const browser = await chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), "--disable-gpu"],
  });
  try {
    const { id: big } = await server.call<{ id: string }>("POST", "/workflows", bigWorkflow());
    const { id: wide } = await server.call<{ id: string }>("POST", "/workflows", bigWorkflow(WIDE));
    const { id: chain } = await server.call<{ id: string }>("POST", "/workflows", chainOfWaits(80, 60));
    const ours = (id: string) => `http://127.0.0.1:${PORT}/workflows/${id}`;
    const figures = await compare(browser, {
      bare: { all: bare.url, crowd: `${bare.url}?columns=${WIDE}` },
      ours: { all: ours(big), crowd: ours(wide) },
    });
    return [
      ...(await measureLatency(browser, server, chain)),
      ...figures,
      await measureScripts(browser, ours(chain)),
    ];
  } finally {
    await browser.close();
    await server.stop();
    bare.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** From an event's instant to the card that shows it. The instant is taken just before the commit, so this is an upper bound. */
async function measureLatency(browser: Browser, server: TroupeProcess, workflow: string): Promise<Figure[]> {
  const delays: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { run_id } = await server.call<{ run_id: string }>("POST", `/workflows/${workflow}/runs`, {
      input: {},
    });
    const page = await newPage(browser);
    await page.addInitScript(recordStatuses);
    await page.goto(`http://127.0.0.1:${PORT}/workflows/${workflow}/runs/${run_id}`);
    await page.waitForFunction(
      (last) => document.querySelector(`[data-node="${last}"]`)?.getAttribute("data-status") === "completed",
      "end",
      { timeout: 60_000 },
    );
    const seen = await page.evaluate(
      () => (window as unknown as { __statuses: [string, string, number][] }).__statuses,
    );
    const { events } = await server.call<{ events: { type: string; node_id?: string; ts: number }[] }>(
      "GET",
      `/runs/${run_id}/events?limit=2000`,
    );
    await page.close();
    const firstSeen = Math.min(...seen.map(([, , at]) => at));
    for (const [node, status, at] of seen) {
      if (status !== "completed") continue;
      const event = events.find(({ type, node_id }) => type === "node_completed" && node_id === node);
      // What happened before the page was there came with the backlog.
      if (event && event.ts > firstSeen + 300) delays.push(at - event.ts);
    }
  }
  return [
    {
      name: "Event to changed card, p95",
      measured: percentile(delays, 95),
      unit: "ms",
      target: { atMost: 30 },
      note: `median ${median(delays).toFixed(0)} ms, ${delays.length} events`,
    },
  ];
}

/** A page in which functions that tsx compiled can run: it wraps them in a helper of its own. */
async function newPage(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript({ content: "globalThis.__name = (named) => named;" });
  return page;
}

/** Runs in the page: notes when which card got which status. */
function recordStatuses() {
  const statuses: [string, string, number][] = [];
  (window as unknown as { __statuses: typeof statuses }).__statuses = statuses;
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const card = target as Element;
      const node = card.getAttribute("data-node");
      if (node) statuses.push([node, card.getAttribute("data-status") ?? "", Date.now()]);
    }
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-status"] });
}

async function compare(
  browser: Browser,
  urls: Record<"bare" | "ours", { all: string; crowd: string }>,
): Promise<Figure[]> {
  const open = { ours: [] as number[], bare: [] as number[] };
  const work = { ours: [] as number[], bare: [] as number[] };
  const pan = { ours: [] as number[], bare: [] as number[] };
  const panCrowd = { ours: [] as number[], bare: [] as number[] };
  const crowd = { ours: 0, bare: 0 };
  for (let round = 0; round <= ROUNDS; round++)
    for (const who of ["bare", "ours"] as const) {
      const page = await newPage(browser);
      const busy = await workOf(page);
      const opened = await openTime(page, urls[who].all);
      const worked = await busy();
      const frames = await panRate(page);
      await openTime(page, urls[who].crowd);
      await showAbout(page, CROWD);
      crowd[who] = await cardsInView(page);
      const crowdFrames = await panRate(page);
      await page.close();
      if (round === 0) continue;
      open[who].push(opened);
      work[who].push(worked);
      pan[who].push(frames);
      panCrowd[who].push(crowdFrames);
    }
  const [our, their] = [median(open.ours), median(open.bare)];
  return [
    {
      name: `Opening ${NODES} nodes, against bare React Flow`,
      measured: our / their,
      unit: "times",
      target: { atMost: 1.3 },
      note: `${our.toFixed(0)} ms against ${their.toFixed(0)} ms; of processor time ${median(work.ours).toFixed(0)} against ${median(work.bare).toFixed(0)} ms`,
    },
    panFigure(`Panning ${NODES} nodes`, 0.95, pan),
    panFigure(`Panning with ${crowd.ours} cards in view (${crowd.bare} in React Flow)`, 0.9, panCrowd),
  ];
}

function panFigure(name: string, atLeast: number, rates: Record<"bare" | "ours", number[]>): Figure {
  const [ours, bare] = [median(rates.ours), median(rates.bare)];
  return {
    name: `${name}, against bare React Flow`,
    measured: ours / bare,
    unit: "of its frame rate",
    target: { atLeast },
    note: `${ours.toFixed(1)} against ${bare.toFixed(1)} frames/s`,
  };
}

/** Zooms a grid so that about `count` of its cards are in view. */
async function showAbout(page: Page, count: number): Promise<void> {
  const { x, y, width, height, scale } = await page.evaluate(() => {
    const { x, y, width, height } = document.querySelector(".react-flow__pane")!.getBoundingClientRect();
    const { transform } = getComputedStyle(document.querySelector(".react-flow__viewport")!);
    return { x, y, width, height, scale: new DOMMatrix(transform).a };
  });
  const wanted = Math.sqrt((width * height) / (count * CELL.width * CELL.height));
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.keyboard.down("Control");
  // React Flow doubles the zoom every 500 pixels of wheel movement.
  await page.mouse.wheel(0, -500 * Math.log2(wanted / scale));
  await page.keyboard.up("Control");
  await page.waitForTimeout(500);
}

function cardsInView(page: Page): Promise<number> {
  return page.evaluate(() => {
    const pane = document.querySelector(".react-flow__pane")!.getBoundingClientRect();
    return [...document.querySelectorAll(".react-flow__node")].filter((node) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      return right > pane.left && left < pane.right && bottom > pane.top && top < pane.bottom;
    }).length;
  });
}

/** Asks for the milliseconds that a page's main thread has worked: a busy machine distorts these less than waiting times. */
async function workOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1_000;
  };
}

/** Milliseconds from the address to a drawing that is painted. */
async function openTime(page: Page, url: string): Promise<number> {
  await page.goto(url, { waitUntil: "commit" });
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const check = () => {
          const nodes = document.querySelectorAll(".react-flow__node");
          const edges = document.querySelectorAll(".react-flow__edge");
          const last = nodes[nodes.length - 1] as HTMLElement | undefined;
          // Measured, placed and visible, with the edges between them; then one more frame to paint.
          if (
            nodes.length >= 100 &&
            edges.length >= 90 &&
            last &&
            getComputedStyle(last).visibility === "visible"
          )
            requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
          else requestAnimationFrame(check);
        };
        check();
      }),
  );
}

/** Frames a second while the drawing is dragged about for two seconds. */
async function panRate(page: Page): Promise<number> {
  await page.waitForTimeout(500);
  const frames = page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const began = performance.now();
        let count = 0;
        const tick = () => {
          count += 1;
          const ms = performance.now() - began;
          if (ms < 2_000) requestAnimationFrame(tick);
          else resolve(count / (ms / 1_000));
        };
        requestAnimationFrame(tick);
      }),
  );
  const free = await freePlace(page);
  await page.mouse.move(free.x, free.y);
  await page.mouse.down({ button: "middle" });
  const until = Date.now() + 2_100;
  for (let step = 0; Date.now() < until; step++)
    await page.mouse.move(free.x + 200 * Math.sin(step / 8), free.y + 120 * Math.cos(step / 8));
  await page.mouse.up({ button: "middle" });
  return frames;
}

/** A place on the drawing where no card lies. */
function freePlace(page: Page): Promise<{ x: number; y: number }> {
  return page.evaluate(() => {
    const pane = document.querySelector(".react-flow__pane")!.getBoundingClientRect();
    for (let x = pane.left + pane.width / 2; x < pane.right - 10; x += 7)
      for (let y = pane.top + 60; y < pane.bottom - 60; y += 7)
        if (document.elementFromPoint(x, y)?.classList.contains("react-flow__pane")) return { x, y };
    return { x: pane.left + pane.width / 2, y: pane.top + pane.height / 2 };
  });
}

/** Scripts sent until the editor is loaded and its drawing is there, compressed as they travel; what comes in quiet moments after that is named apart. */
async function measureScripts(browser: Browser, url: string): Promise<Figure> {
  const page = await newPage(browser);
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const scripts = new Set<string>();
  let bytes = 0;
  session.on("Network.responseReceived", ({ requestId, type }) => {
    if (type === "Script") scripts.add(requestId);
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength;
  });
  await page.goto(url, { waitUntil: "load" });
  await page.waitForSelector(".react-flow__node");
  const count = scripts.size;
  const measured = bytes / 1_000;
  await page.waitForTimeout(2_000);
  const later = bytes / 1_000 - measured;
  await page.close();
  return {
    name: "First-load JavaScript of the editor",
    measured,
    unit: "kB",
    target: { atMost: 300 },
    note: `${count} files${later > 1 ? `; ${later.toFixed(0)} kB more when idle, within 2 s` : ""}`,
  };
}

function bigWorkflow(columns?: number) {
  const { nodes, edges } = grid(NODES, columns);
  return {
    graph_id: "big",
    start_node_id: "n0",
    nodes: Object.fromEntries(
      nodes.map(({ id, x, y }, at) => [
        id,
        at === 0
          ? { id, node_type: "start", name: id, config: {}, ui: { x, y } }
          : { id, node_type: "wait", name: id, config: { ms: 1_000 }, ui: { x, y } },
      ]),
    ),
    edges: edges.map(([source_node_id, target_node_id], at) => ({
      id: `e${at}`,
      source_node_id,
      target_node_id,
    })),
  };
}

function chainOfWaits(length: number, ms: number) {
  const ids = ["start", ...Array.from({ length }, (_, at) => `w${at}`), "end"];
  return {
    graph_id: "waits",
    start_node_id: "start",
    nodes: Object.fromEntries(
      ids.map((id, at) => [
        id,
        {
          id,
          name: id,
          node_type: id === "start" ? "start" : id === "end" ? "end" : "wait",
          config: id.startsWith("w") ? { ms } : {},
          ui: { x: (at % 8) * 300, y: Math.floor(at / 8) * 170 },
        },
      ]),
    ),
    edges: ids.slice(1).map((id, at) => ({ id: `e${at}`, source_node_id: ids[at], target_node_id: id })),
  };
}

/** A production build of the bare page, on a port of its own. */
async function serveBarePage(outDir: string): Promise<{ url: string; close: () => void }> {
  await build({
    root: path.join(import.meta.dirname, "bare"),
    configFile: false,
    logLevel: "error",
    css: { postcss: { plugins: [] } },
    build: { outDir, emptyOutDir: true },
  });
  const types: Record<string, string> = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://localhost");
    const file = pathname === "/" ? "/index.html" : pathname;
    try {
      const content = readFileSync(path.join(outDir, path.basename(path.dirname(file)), path.basename(file)));
      response.setHeader("content-type", types[path.extname(file)] ?? "application/octet-stream");
      response.end(content);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => void server.close(),
  };
}
