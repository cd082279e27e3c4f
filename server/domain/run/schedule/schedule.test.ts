import { describe, expect, test } from "vitest";
import { canonicalJson } from "@/server/domain/base/json";
import type { JsonObject } from "@/server/domain/base/values";
import { analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findProblems } from "@/server/domain/problems/problems";
import { draw } from "@/server/domain/testing/drawing";
import { counts, seeded, simulate } from "@/server/domain/testing/simulate";
import { sized } from "@/server/testing/thorough";
import { foldRun } from "..";

const run = (text: string, labels: Record<string, string[][]> = {}, options: Record<string, object> = {}) =>
  simulate(draw(text, options as never), {
    labels: (node, k) => labels[node]?.[k - 1] ?? labels[node]?.at(-1) ?? [],
  });
const order = (result: ReturnType<typeof simulate>) =>
  result.events.filter((e) => e.type === "node_started").map((e) => e.activation_id!);

describe("workflow patterns (van der Aalst)", () => {
  test("1 sequence: nodes run one after another", () => {
    expect(order(run("start > a > b > end"))).toEqual(["start#1", "a#1", "b#1", "end#1"]);
  });
  test("2, 3 parallel split and synchronization: the join runs once, after both", () => {
    const done = run("start > a > j > end; start > b > j");
    expect(counts(done.state)).toEqual({ start: 1, a: 1, b: 1, j: 1, end: 1 });
    expect(done.state.activations["j#1"]!.causes.toSorted()).toEqual(["a#1", "b#1"]);
  });
  test("4, 5 exclusive choice and simple merge: the merge doesn't wait for a branch not taken", () => {
    expect(counts(run("start > r; r yes> a > m > end; r no> b > m", { r: [["no"]] }).state)).toEqual({
      start: 1,
      r: 1,
      b: 1,
      m: 1,
      end: 1,
    });
  });
  test("a route labeled else, in any case, is taken if no other matches, and is no error", () => {
    for (const word of ["else", "Else", "DEFAULT", "*"]) {
      const text = `start > r; r yes> a > end; r ${word}> b > end`;
      expect(counts(run(text, { r: [["maybe"]] }).state)).toMatchObject({ b: 1 });
      const conditions = ["yes", "maybe"].map((label) => ({ label, when: "true" }));
      const drawn = draw(text, { r: { config: { kind: "expression", conditions } } });
      expect(findProblems(drawn, []).filter(({ severity }) => severity === "error")).toEqual([]);
    }
  });
  test("6, 7 multi-choice and structured synchronizing merge: the merge waits for the chosen branches", () => {
    const text = "start > r; r one> a > m > end; r two> b > m; r three> c > m";
    expect(counts(run(text, { r: [["one", "three"]] }).state)).toEqual({
      start: 1,
      r: 1,
      a: 1,
      c: 1,
      m: 1,
      end: 1,
    });
  });
  test("8 multi-merge: the node runs for each token", () => {
    expect(counts(run("start > a > m > end; start > b > m", {}, { m: { join: "each" } }).state)).toEqual({
      start: 1,
      a: 1,
      b: 1,
      m: 2,
      end: 2,
    });
  });
  test("9 discriminator: the first token of a wave runs the node, the rest are absorbed", () => {
    const done = run("start > a > m > end; start > b > m; start > c > m", {}, { m: { join: "any" } });
    expect(counts(done.state)).toEqual({ start: 1, a: 1, b: 1, c: 1, m: 1, end: 1 });
    expect(done.events.filter((e) => e.type === "token_absorbed")).toHaveLength(2);
  });
  test("10, 21 loops: a back edge runs the body again until the router leaves", () => {
    const done = run("start > a > r; r again> a; r out> end", { r: [["again"], ["again"], ["out"]] });
    expect(counts(done.state)).toEqual({ start: 1, a: 3, r: 3, end: 1 });
    expect(done.events.filter((e) => e.type === "loop_iteration").map((e) => e.payload)).toEqual([
      { iteration: 2, max: 25 },
      { iteration: 3, max: 25 },
    ]);
  });
  test("11 implicit termination: the run ends when nothing is left", () => {
    const { state } = run("start > a; start > b");
    expect([state.parked.size, state.ready.length, state.running.size]).toEqual([0, 0, 0]);
  });
  test("28, 30 partial join: the join runs once two of three tokens have arrived", () => {
    const done = run("start > a > j > end; start > b > j; start > c > j", {}, { j: { join: { n: 2 } } });
    expect(counts(done.state)).toMatchObject({ j: 1, end: 1 });
    expect(done.state.activations["j#1"]!.causes).toHaveLength(2);
  });
  test("a partial join with too few tokens fails, is skipped or runs, depending on its settings", () => {
    const text = "start > r; r one> a > j > end; r two> b > j";
    const outcome = (on_shortfall: string) =>
      run(text, { r: [["one"]] }, { j: { join: { n: 2, on_shortfall } } }).state;
    expect(outcome("error").failing?.code).toBe("JOIN_SHORTFALL");
    expect(outcome("skip").nodes.j?.status).toBe("skipped");
    expect(counts(outcome("fire"))).toMatchObject({ j: 1, end: 1 });
  });
  test("37, 38 a join inside a loop synchronizes every iteration again", () => {
    const done = run("start > h; h > a > j > r; h > b > j; r again> h; r out> end", {
      r: [["again"], ["out"]],
    });
    expect(counts(done.state)).toEqual({ start: 1, h: 2, a: 2, b: 2, j: 2, r: 2, end: 1 });
  });
  test.each([20, 21, 25, 300, 5000])(
    "a join on the first branch inside a loop fires once per iteration if the other branch takes %i ms",
    (slow) => {
      for (const join of ["any", { n: 1 }, { n: 1, on_shortfall: "skip" }]) {
        const done = simulate(
          draw("start > h; h > a > j > r; h > b > j; r again> h; r out> end", { j: { join } }),
          {
            takes: (node) => ({ a: 20, b: slow })[node] ?? 1,
            labels: (_node, k) => (k < 3 ? ["again"] : ["out"]),
          },
        );
        expect(counts(done.state)).toEqual({ start: 1, h: 3, a: 3, b: 3, j: 3, r: 3, end: 1 });
        expect(done.state.parked.size).toBe(0);
      }
    },
  );
  test("nested loops count their iterations independently", () => {
    const done = run("start > o > i > ri; ri again> i; ri out> ro; ro again> o; ro out> end", {
      ri: [["again"], ["out"], ["again"], ["out"]],
      ro: [["again"], ["out"]],
    });
    expect(counts(done.state)).toEqual({ start: 1, o: 2, i: 4, ri: 4, ro: 2, end: 1 });
  });
  test("a route can leave two loops at once", () => {
    const done = run("start > o > i > ri; ri again> i; ri next> ro; ri stop> end; ro again> o; ro out> end", {
      ri: [["again"], ["stop"]],
      ro: [["out"]],
    });
    expect(counts(done.state)).toEqual({ start: 1, o: 1, i: 2, ri: 2, end: 1 });
  });
  test("a join after a router on one of its branches waits only for the other branch", () => {
    const done = run("start > a > r; r yes> c > j; r no> x; start > b > j; j > end", { r: [["no"]] });
    expect(counts(done.state)).toEqual({ start: 1, a: 1, r: 1, x: 1, b: 1, j: 1, end: 1 });
  });
  test("a loop back to the start runs everything again", () => {
    expect(counts(run("start > r; r again> start; r out> end", { r: [["again"], ["out"]] }).state)).toEqual({
      start: 2,
      r: 2,
      end: 1,
    });
  });
});

describe("loops at their limit", () => {
  test("a loop at its limit leaves by its default edge and writes the limit to the state", () => {
    const done = simulate(draw("start > a > r; r again> a; r else> end"), {
      maxLoop: 3,
      labels: () => ["again"],
    });
    expect(counts(done.state)).toEqual({ start: 1, a: 3, r: 3, end: 1 });
    expect(done.state.state._loop_limit).toBe("a");
  });
  test("a loop at its limit fails the run if it has no default edge", () => {
    const done = simulate(draw("start > a > r; r again> a; r out> end"), {
      maxLoop: 3,
      labels: () => ["again"],
    });
    expect(done.state.failing).toMatchObject({ code: "LOOP_LIMIT", node_id: "a" });
  });
});

test("a loop that can be entered in its middle is detected", () => {
  const a = analyse(draw("start > r; r one> a > b; r two> b > a; b > end"));
  expect(a.irreducible).toHaveLength(1);
});

/** A random graph: forward edges by position, some back edges out of routers, labels on all router edges. */
function randomGraph(random: () => number): WorkflowGraph {
  const n = 3 + Math.floor(random() * 12);
  const ids = [
    "start",
    ...Array.from({ length: n - 2 }, (_, at) => (random() < 0.4 ? `r${at}` : `n${at}`)),
    "end",
  ];
  const lines: string[] = [];
  ids.forEach((id, at) => {
    if (at === ids.length - 1) return;
    const outs = 1 + Math.floor(random() * (id.startsWith("r") ? 3 : 2.4));
    const targets = new Set<number>();
    for (let k = 0; k < outs; k++) {
      const back = id.startsWith("r") && at > 0 && random() < 0.3 && k > 0;
      targets.add(
        back
          ? 1 + Math.floor(random() * at)
          : at + 1 + Math.floor(random() * Math.min(4, ids.length - at - 1)),
      );
    }
    [...targets].forEach((to, k) =>
      lines.push(id.startsWith("r") ? `${id} l${k}> ${ids[to]}` : `${id} > ${ids[to]}`),
    );
  });
  const options: Record<string, { join: unknown }> = {};
  for (const id of ids) {
    const roll = random();
    if (roll < 0.06) options[id] = { join: "each" };
    else if (roll < 0.12) options[id] = { join: "any" };
    else if (roll < 0.15) options[id] = { join: { n: 2, on_shortfall: "fire" } };
  }
  return draw(lines.join("; "), options as never);
}

const GRAPHS = sized(300, 20_000);
const MOST_STEPS = 600;

test(`${GRAPHS} random graphs end under 4 timings each, with no token left and independent of timing`, {
  timeout: 240_000,
}, () => {
  let reducible = 0;
  let looped = 0;
  let choosy = 0;
  for (let seed = 1; seed <= GRAPHS; seed++) {
    const graph = randomGraph(seeded(seed));
    const a = analyse(graph);
    if (Object.values(graph.nodes).some(({ join }) => join !== "all") && a.irreducible.length === 0) choosy++;
    const labelsOf = (node: string, k: number) => {
      const labels = (a.outgoing.get(node) ?? []).map((edge) => edge.edge_label!);
      const random = seeded(
        seed * 7919 + k * 104_729 + [...node].reduce((sum, c) => sum * 31 + c.charCodeAt(0), 7),
      );
      // After some rounds the way forward: a router's first edge never leads back.
      if (k > 4) return labels.slice(0, 1);
      const chosen = labels.filter(() => random() < 0.5);
      return chosen.length > 0 ? chosen : labels.slice(0, 1);
    };
    graph.global_state_schema = {
      properties: { log: { "x-reducer": "append" }, text: { "x-reducer": "concat_text" } },
    };
    for (const node of Object.values(graph.nodes)) node.output_keys = ["log", "text"];
    const results = (a.irreducible.length > 0 ? [1, 4] : [1, 2, 3, 4]).map((timing) => {
      const random = seeded(seed * 31 + timing);
      return simulate(graph, {
        ...(timing > 2
          ? { takes: () => [1, 20, 300, 50_000][Math.floor(random() * 4)]! }
          : { timing: random }),
        parallel: timing * timing,
        labels: labelsOf,
        output: (node, k): JsonObject => (seed % 4 === 0 && k <= 8 ? { log: node, text: `${node} ` } : {}),
        maxSteps: MOST_STEPS,
      });
    });
    for (const { state } of results) {
      if (state.totals.steps >= MOST_STEPS || state.failing) continue;
      if (state.parked.size > 0 || state.ready.length > 0 || state.running.size > 0)
        throw new Error(`seed ${seed}: ${state.parked.size} tokens left`);
    }
    if (a.loops.size > 0) looped++;
    if (a.irreducible.length > 0) continue;
    reducible++;
    const [first, ...others] = results.map(({ state, ties }) =>
      canonicalJson({
        counts: counts(state),
        failing: state.failing?.code ?? null,
        ties,
        // Who was done first shows nowhere in what the branches wrote.
        ...(state.totals.steps >= MOST_STEPS || state.failing ? {} : { wrote: state.state }),
      }),
    );
    for (const other of others)
      if (other !== first) throw new Error(`seed ${seed}: depends on timing\n${first}\n${other}`);
    if (results.some(({ ties }) => ties > 0)) throw new Error(`seed ${seed}: a tie in a reducible graph`);
  }
  expect(reducible).toBeGreaterThan(GRAPHS / 10);
  expect(looped).toBeGreaterThan(GRAPHS / 10);
  expect(choosy).toBeGreaterThan(GRAPHS / 10);
});

test("a run interrupted at any batch boundary ends the same once it continues", () => {
  let crashes = 0;
  for (let seed = 1; seed <= sized(50, 150); seed++) {
    const graph = randomGraph(seeded(seed));
    if (analyse(graph).irreducible.length > 0) continue;
    const labels = (node: string, k: number) => {
      const all = graph.edges.filter((edge) => edge.source_node_id === node).map((edge) => edge.edge_label!);
      return k > 2 ? all.slice(0, 1) : all;
    };
    const whole = simulate(graph, { parallel: 1, labels });
    for (const cut of whole.cuts) {
      crashes++;
      const again = simulate(graph, { parallel: 1, labels, resume: whole.events.slice(0, cut) });
      expect(counts(again.state)).toEqual(counts(whole.state));
      expect(again.state.state).toEqual(whole.state.state);
      expect(foldRun("sim", again.events)).toEqual(again.state);
    }
  }
  expect(crashes).toBeGreaterThan(sized(150, 500));
});
