import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import process from "node:process";
import { openDb } from "@/db/open";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { Json, JsonSchema } from "@/server/domain/base/values";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { readSchema } from "@/server/domain/schema/schema";
import { evaluateExpression } from "@/server/domain/text/expression/expression";
import { renderTemplate } from "@/server/domain/text/template/template";
import { readSent } from "@/server/interop/import/off-thread";
import { Host } from "@/server/runner/lifecycle/host";
import { newRunStore } from "@/server/store/runs/runs";
import { type Figure, median } from "./table";

/** The longest that accepted work may hold the server's thread, in milliseconds. */
const MOST_MS = 50;
const ROUNDS = 5;
const MIB = 1024 * 1024;

const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const object = <T>(count: number, make: (at: number) => [string, T]): Record<string, T> =>
  Object.fromEntries(many(count, make));
/** Numbers that look random and are the same each time. */
const noise = (seed: number) => () => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
  return seed / 0x7fffffff;
};
const random = noise(7);
const letters = (count: number, of = "ab") =>
  many(count, () => of[Math.floor(random() * of.length)]).join("");

/** Schemas of strangers with values that cost them most. */
const CHECKS: Record<string, [JsonSchema, () => unknown]> = {
  "200 patterns on 2,000 keys": [
    { patternProperties: object(200, (i) => [`^(k|${i})+[a-z0-9]*${i}$`, { type: "number" }]) },
    () => object(2_000, (i) => [`k${i}${letters(12)}`, i]),
  ],
  "a large pattern on a long text": [{ pattern: "(a|b)*a(a|b){12}(a|b){400}c" }, () => letters(MIB)],
  "a pattern of 9,000 places": [{ pattern: "(a?){3000}b{0,1500}c" }, () => letters(MIB)],
  "a pattern that always starts anew": [{ pattern: "(.*a){40}.*x" }, () => letters(MIB)],
  "many kinds of characters": [
    { pattern: `[${many(300, (i) => String.fromCodePoint(0x1000 + i * 7)).join("")}]+x` },
    () => many(60_000, (i) => String.fromCodePoint(0x1000 + (i % 50_000))).join(""),
  ],
  "100,000 unique numbers": [{ uniqueItems: true }, () => many(100_000, (i) => i)],
  "20,000 unique objects": [{ uniqueItems: true }, () => many(20_000, (i) => ({ id: i, b: "x", a: [i] }))],
  "long equal texts": [{ items: { enum: ["a".repeat(1000)] } }, () => many(2000, () => "a".repeat(1000))],
  "one of 1,000, each wrong": [
    { oneOf: many(1_000, (i) => ({ type: "object", required: [`k${i}`], properties: { a: { const: i } } })) },
    () => ({ a: -1 }),
  ],
  "a list of one of 100": [
    {
      items: {
        anyOf: many(100, (i) => ({ type: "object", properties: { a: { const: i } }, required: ["a"] })),
      },
    },
    () => many(5_000, () => ({ a: -1 })),
  ],
  "unevaluated keys of 100 stacked schemas": [
    {
      allOf: many(100, (i) => ({
        properties: object(50, (k) => [`k${k + i}`, {}]),
        unevaluatedProperties: true,
      })),
      unevaluatedProperties: false,
    },
    () => object(1_500, (i) => [`k${i}`, i]),
  ],
  "a schema that refers to itself": [
    {
      $ref: "#/$defs/t",
      $defs: { t: { anyOf: [{ type: "number" }, { type: "array", items: { $ref: "#/$defs/t" } }] } },
    },
    () => many(300, () => many(100, (i) => [i])),
  ],
  "names of 2,000 long keys": [
    { propertyNames: { pattern: "^(a|b)*(a|b){20}c$" } },
    () => object(2_000, (i) => [`${letters(128)}${i}`, 1]),
  ],
  "formats of long texts": [
    {
      items: {
        anyOf: ["date-time", "email", "uri", "ipv6", "hostname", "uuid", "json-pointer"].map((format) => ({
          format,
          type: "string",
        })),
      },
    },
    () => many(2_000, (i) => `${letters(500)}@${i}`),
  ],
  "100,000 numbers, many multiples": [
    { items: { allOf: many(10, (i) => ({ multipleOf: 0.1 * (i + 1), minimum: -5 })) } },
    () => many(30_000, (i) => i * 0.7),
  ],
  "2,000 closed keys, all wrong": [
    { additionalProperties: false, properties: object(2_000, (i) => [`p${i}`, {}]) },
    () => object(2_000, (i) => [`k${i}`, i]),
  ],
  "contains in a long list": [
    { contains: { allOf: many(50, (i) => ({ const: i })) } },
    () => many(50_000, (i) => i),
  ],
  "a list, each by 100 if, then, else": [
    {
      items: {
        allOf: many(100, (i) => ({
          if: { properties: { a: { const: i } } },
          then: { required: ["x"] },
          else: { required: ["y"] },
        })),
      },
    },
    () => many(5_000, () => ({ a: 3 })),
  ],
  "a list, each with wrong keys": [
    { items: { anyOf: [{ additionalProperties: false, properties: { a: {} } }, { type: "number" }] } },
    () => many(300, () => object(100, (i) => [`k${i}`, i])),
  ],
  "patterns as values": [
    { items: { format: "regex" } },
    () => many(2_000, (i) => `^([a-z${i}]{0,50}x){0,50}$`),
  ],
  "one long pattern as a value": [{ format: "regex" }, () => "(a|b)*".repeat(150_000)],
  "2,000 if, then, else": [
    {
      allOf: many(2_000, (i) => ({
        if: { properties: { a: { const: i } } },
        then: { required: ["x"] },
        else: { required: ["y"] },
      })),
    },
    () => ({ a: 3 }),
  ],
};

/** The widest schemas that are read at all. */
const COMPILES: Record<string, () => JsonSchema> = {
  "2,000 schemas": () => ({
    properties: object(1_990, (i) => [`key number ${i}`, { type: "string", minLength: 1, title: `T${i}` }]),
  }),
  "schemas deep in each other": () => {
    let schema: JsonSchema = { type: "string" };
    for (let at = 0; at < 90 / 2; at++)
      schema = { allOf: many(1, () => schema), properties: object(50, (i) => [`k${i}`, { type: "string" }]) };
    return schema;
  },
  "39,000 allowed values": () => ({ enum: many(39_000, (i) => `v${i}`) }),
  "850 lists of allowed values": () => ({
    properties: object(850, (i) => [`k${i}`, { enum: many(45, (k) => `v${k}`) }]),
  }),
  "1,000,000 characters of allowed values": () => ({ enum: many(500, (i) => `${i}${"x".repeat(1_900)}`) }),
  "700 patterns": () => ({ properties: object(700, (i) => [`k${i}`, { pattern: `^[a-z${i}]{1,10}x?$` }]) }),
  "one pattern of 9,900 places": () => ({ pattern: "([a-z]|[0-9]){0,2000}" }),
  "patterns of many places": () => ({
    properties: object(5, (i) => [`k${i}`, { pattern: `^(${i}a?b){2000}` }]),
  }),
  "34,000 unknown words": () => ({
    properties: object(1_900, (i) => [`k${i}`, object(18, (k) => [`word${k}`, i])]),
  }),
  "1,990 references": () => ({
    $defs: { a: { type: "string" } },
    properties: object(1_990, (i) => [`k${i}`, { $ref: "#/$defs/a" }]),
  }),
  "500 references to long addresses": () => ({
    $defs: { a: { type: "string" } },
    properties: object(500, (i) => [`k${i}`, { $ref: `http://x.example/${"a/".repeat(900)}${i}` }]),
  }),
  "2,000 addresses": () => ({
    properties: object(1_990, (i) => [`k${i}`, { $id: `http://x.example/${i}`, type: "string" }]),
  }),
  "long keys": () => ({ properties: object(1_990, (i) => [`${"k".repeat(400)}${i}`, { type: "string" }]) }),
};

const big: Record<string, Json> = {
  text: "a".repeat(2 * MIB - 1_000),
  half: "a".repeat(MIB),
  letters: "a".repeat(20_000),
  wide: "ж".repeat(MIB),
  mixed: "ab,cd ef".repeat(MIB / 8),
  numbers: many(300_000, (i) => i),
  names: many(100_000, (i) => `name ${i}`),
  objects: many(20_000, (i) => ({ id: i, name: `n${i}`, tags: ["a", "b"] })),
  times: many(30_000, (i) => new Date(1e12 + i * 1e7).toISOString()),
  keys: object(2_000, (i) => [`k${i}`, i]),
};

const EXPRESSIONS = [
  "state.letters.split('').map(a, state.letters.split('').map(b, 1).size()).size()",
  "state.numbers.all(x, state.numbers.exists(y, x == y + 1))",
  "state.numbers.map(x, x * 2 + 1).filter(x, x % 3 == 0)",
  "state.names.map(x, x + 'abc').filter(x, x.contains('9'))",
  "state.names.sort()",
  "state.names.distinct().size()",
  "state.objects.map(x, x.name + string(x.id)).join(',')",
  "state.names.map(x, x.upperAscii().lowerAscii().trim())",
  "state.objects == state.objects.map(y, y)",
  "string(state.objects)",
  "state.objects.map(x, {'a': x, 'b': [x]})",
  "state.numbers.map(x, string(x) + '.' + string(x))",
  "state.numbers.map(x, double(string(x)))",
  "state.times.map(x, timestamp(x).getHours('Europe/Paris'))",
  "state.times.map(x, timestamp(x).getFullYear())",
  "state.times.map(x, timestamp(x) + duration('1h')).map(x, string(x))",
  "state.wide.upperAscii()",
  "state.text.replace('a', 'bb')",
  "state.mixed.split(' ')",
  "state.mixed.replace('cd', 'x')",
  "state.text + state.text",
  "(state.text + state.half).contains('b')",
  "state.text.reverse()",
  "state.half.lastIndexOf('ab')",
  "state.numbers.map(x, [x, [x, [x]]]).flatten()",
  "state.numbers.reverse().sort()",
  "state.numbers.map(x, '%d %s'.format([x, 'a']))",
  "state.names.map(x, x.split(''))",
  "state.keys.map(k, k).join()",
  "state.keys.all(k, state.keys[k] >= 0)",
  "state.objects.map(x, x.tags.map(t, t + x.name))",
  "state.numbers.map(x, base64.encode(bytes(string(x))))",
  "state.names.map(x, x.size())",
  "state.numbers.sum()",
  "math.greatest(state.numbers)",
  "state.names.map(x, x.substring(2))",
  "state.names.map(x, x.indexOf('9'))",
  "state.numbers.map(x, optional.of(x).orValue(1))",
  "state.half.split('a').size()",
  "state.names.map(x, x in {'name 1': true})",
];

const TEMPLATES = [
  "{{#each state.names}}{{this}} {{@index}} {{/each}}",
  "{% for x in state.names %}{{ x }} {% endfor %}",
  "{{ state.objects }}",
  "{{ state.objects | json }}",
  "{% for x in state.objects %}{{ x.name | upcase }}{% if x.id > 5 %}a{% endif %}{% endfor %}",
  "{{ state.text }}{{ state.half }}",
  "{{state.text}}".repeat(3),
  "{{ state.names | join: ', ' }}",
  "{{state.keys.k1}} ".repeat(5_000),
];

interface Held {
  usual: number;
  most: number;
}

/** How long the thread was held, usually and at most (the first times are the slowest), judged by the lesser of wall clock and processor: others use the machine, too. */
function held(work: () => unknown, rounds = ROUNDS): Held {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    globalThis.gc?.();
    const before = process.cpuUsage();
    const began = performance.now();
    try {
      work();
    } catch {
      // Refused is as good as done; the time until then counts.
    }
    const { user, system } = process.cpuUsage(before);
    times.push(Math.min(performance.now() - began, (user + system) / 1_000));
  }
  return { usual: median(times), most: Math.max(...times) };
}

const figure = (name: string, { usual: measured, most }: Held): Figure => ({
  name,
  measured,
  unit: "ms",
  target: { atMost: MOST_MS },
  note: `at most ${Math.round(most)} ms`,
});

const slower = (a: Held, b: Held): Held => ({
  usual: Math.max(a.usual, b.usual),
  most: Math.max(a.most, b.most),
});

const worst = (what: string, tried: [string, Held][]): Figure[] =>
  tried
    .toSorted((a, b) => b[1].usual - a[1].usual)
    .slice(0, 4)
    .map(([name, ms]) => figure(`${what}: ${name}`, ms));

/** The longest pause of the event loop while a run works off a step with as many expressions as one may have. */
async function measureRun(): Promise<Figure[]> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "troupe-bench-"));
  const db = openDb(path.join(folder, "bench.db"));
  const models = { complete: () => Promise.reject(new Error("No model is asked.")), describe: () => null };
  const store = newRunStore(db);
  const host = new Host({ store, effects: { models } });
  const set = object(1_000, (i) => [`k${i}`, `state.a > ${i} ? 1 : ${i} + 2`]);
  const steps = many(5, (i) => ({
    id: `t${i}`,
    node_type: "transform",
    config: { set },
    output_keys: Object.keys(set),
  }));
  const nodes = [{ id: "start", node_type: "start", config: {} }, ...steps, { id: "end", node_type: "end" }];
  const graph = WorkflowGraph.parse({
    graph_id: "bench",
    start_node_id: "start",
    nodes: Object.fromEntries(nodes.map((node) => [node.id, node])),
    edges: nodes
      .slice(1)
      .map(({ id }, at) => ({ id: `e${at}`, source_node_id: nodes[at]!.id, target_node_id: id })),
  });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const pauses: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    delay.reset();
    delay.enable();
    const { run_id } = host.start({
      workflow_id: null,
      workflow_name: "bench",
      graph,
      roles: [],
      input: { a: 1, b: "x" },
      config: RunConfig.parse({}),
      trigger: "test",
      provider_summary: null,
    });
    await host.settled(run_id);
    // A pause is seen when the next timer fires.
    await new Promise((resolve) => setTimeout(resolve, 20));
    delay.disable();
    const { final_status } = store.find(run_id)!;
    if (final_status !== "COMPLETED") throw new Error(`A run ended as ${final_status}.`);
    pauses.push(delay.max / 1e6);
  }
  await host.drain(1_000);
  db.$client.close();
  rmSync(folder, { recursive: true, force: true });
  return [
    figure("Longest pause in a run, five steps of 1,000 expressions", {
      usual: median(pauses),
      most: Math.max(...pauses),
    }),
  ];
}

/** Files that take the thread of imports long, or to its limits. */
const IMPORTS: Record<string, () => { path: string; text: string }> = {
  "a graph of 900 nodes": () => ({
    path: "graph.json",
    text: JSON.stringify({
      nodes: [{ id: "__start__" }, ...many(900, (i) => ({ id: `n${i}`, type: "runnable", data: {} }))],
      edges: many(900, (i) => ({ source: i === 0 ? "__start__" : `n${i - 1}`, target: `n${i}` })),
    }),
  }),
  "values that multiply": () => ({
    path: "crew.py",
    text: `from crewai import Agent, Crew\ns0 = "x"\n${many(40, (i) => `s${i + 1} = s${i} + s${i}\n`).join("")}Crew(agents=[Agent(role=s40)])\n`,
  }),
  "100,000 signs": () => ({
    path: "agents.py",
    text: `from agents import Agent, Runner\na = Agent(name="A")\nRunner.run_sync(a, ${"-".repeat(100_000)}1)\n`,
  }),
  "5 MiB of brackets": () => ({ path: "a.md", text: "<".repeat(5 * MIB) }),
};

/** The longest pause of the event loop while an import is read in its thread. */
async function measureImports(): Promise<[string, Held][]> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const measured: [string, Held][] = [];
  for (const [name, make] of Object.entries(IMPORTS)) {
    const pauses: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const file = make();
      delay.reset();
      delay.enable();
      await readSent([file]);
      await new Promise((resolve) => setTimeout(resolve, 20));
      delay.disable();
      pauses.push(delay.max / 1e6);
    }
    measured.push([name, { usual: median(pauses), most: Math.max(...pauses) }]);
  }
  return measured;
}

/** How long work that is accepted, or refused only once its budget is used up, holds the thread. */
export async function measureFreezing(): Promise<Figure[]> {
  const checks = Object.entries(CHECKS).map(([name, [schema, value]]): [string, Held] => {
    const given = value();
    const ready = readSchema(schema);
    return [
      name,
      slower(
        held(() => ready.errors(given)),
        held(() => ready.fits(given)),
      ),
    ];
  });
  const compiles = Object.entries(COMPILES).map(([name, make]): [string, Held] => {
    const fresh = many(ROUNDS, make);
    return [name, held(() => readSchema(fresh.pop()!))];
  });
  const scope = { state: big, input: {} };
  const expressions = EXPRESSIONS.map((text): [string, Held] => [
    text,
    held(() => evaluateExpression(text, scope)),
  ]);
  const templates = TEMPLATES.map((text): [string, Held] => [
    text.slice(0, 60),
    held(() => renderTemplate(text, scope)),
  ]);
  return [
    ...(await measureRun()),
    ...worst("Import", await measureImports()),
    ...worst("Schema", checks),
    ...worst("Compiling", compiles),
    ...worst("Expression", expressions),
    ...worst("Template", templates),
  ];
}
