import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "@/db/schema";
import { emptyDb } from "@/db/testing";
import { LIMITS } from "@/server/limits";
import { newRunStore } from "@/server/store/runs/runs";
import { WorkspaceStore } from "@/server/store/runs/workspace";
import { type MemoryInput, type MemoryPlace, MemoryStore } from "./memories";
import { toMatch } from "./memory-query";

const DAY = 24 * 3_600_000;
const RUN: MemoryPlace = { scope: "run", scope_id: "run_a" };
const WORKFLOW: MemoryPlace = { scope: "workflow", scope_id: "wf_1" };

function newStore() {
  const db = emptyDb();
  const clock = { now: 1_000 * DAY };
  const store = new MemoryStore(db, () => clock.now);
  const remember = (key: string, value: MemoryInput["value"], more: Partial<MemoryInput> = {}) =>
    store.store({ ...RUN, key, value, tainted: true, source: { by: "agent" }, ...more });
  return { db, store, clock, remember };
}

test("a key has one value per scope, with its source", () => {
  const { store, remember } = newStore();
  const first = remember("budget", "100 euros", { source: { by: "agent", role_name: "planner" } });
  remember("budget", "200 euros", { ...WORKFLOW, tainted: false });
  const second = remember(" budget ", "150 euros");
  expect(second.id).toBe(first.id);
  expect(store.retrieve(RUN, "budget")).toMatchObject({ value: "150 euros", tainted: true });
  expect(store.retrieve(WORKFLOW, "budget")).toMatchObject({ value: "200 euros", tainted: false });
  expect(store.retrieve({ scope: "workflow", scope_id: "wf_2" }, "budget")).toBeUndefined();
  expect(store.retrieve({ scope: "global", scope_id: "run_a" }, "budget")).toBeUndefined();
});

test("search finds all forms of a word in keys and values, only in the given scopes", () => {
  const { store, remember } = newStore();
  remember("customer", "They are shipping containers from Hamburg");
  remember("weather", "It rains");
  remember("customer", "Another crew's container", { scope_id: "run_b" });
  remember("harbour", "Shipped by container", WORKFLOW);
  const keys = (query: string, places: MemoryPlace[]) => store.search(query, places).map(({ key }) => key);
  expect(keys("ship container", [RUN])).toEqual(["customer"]);
  expect(keys("ship container", [RUN, WORKFLOW]).sort()).toEqual(["customer", "harbour"]);
  expect(keys("weather", [RUN])).toEqual(["weather"]);
  expect(keys("ship", [])).toEqual([]);
  expect(store.search("ship", [RUN])[0]?.source).toEqual({ by: "agent" });
});

test("the score is 0.5 relevance, 0.3 recency with a half-life of 30 days, and 0.2 importance", () => {
  const { store, clock, remember } = newStore();
  remember("old", "the tide tables", { importance: 1 });
  clock.now += 30 * DAY;
  remember("new", "the tide tables", { importance: 0 });
  const [first, second] = store.search("tide", [RUN]);
  expect(first).toMatchObject({ key: "old", relevance: 1, recency: 0.5 });
  expect(first?.score).toBeCloseTo(0.5 + 0.15 + 0.2, 10);
  expect(second).toMatchObject({ key: "new", relevance: 1, recency: 1, score: 0.8 });
});

test("matching more words scores higher", () => {
  const { store, remember } = newStore();
  for (let n = 0; n < 20; n++) remember(`other ${n}`, "something about cats and dogs");
  remember("one", "cats and the moon");
  remember("both", "the moon and the tide");
  expect(store.search("moon tide", [RUN]).map(({ key }) => key)).toEqual(["both", "one"]);
  expect(store.search("cats", [RUN], 3)).toHaveLength(3);
});

test("an expired memory is hidden even before it is swept", () => {
  const { db, store, clock, remember } = newStore();
  const { id } = remember("code", "4711 ferry", { ttl_seconds: 60 });
  remember("kept", "ferry");
  clock.now += 59_999;
  expect(store.retrieve(RUN, "code")?.value).toBe("4711 ferry");
  clock.now += 1;
  expect([store.retrieve(RUN, "code"), store.find(id)]).toEqual([undefined, undefined]);
  expect(store.search("ferry", [RUN]).map(({ key }) => key)).toEqual(["kept"]);
  expect(store.list().map(({ key }) => key)).toEqual(["kept"]);
  expect(store.update(id, { value: "back" })).toBeUndefined();
  expect([store.sweep(), store.sweep()]).toEqual([1, 0]);
  expect(
    db.$client.prepare("select count(*) as n from memories_fts where memories_fts match 'ferry'").get(),
  ).toEqual({
    n: 1,
  });
});

test("sweeping removes only task memories of ended runs", () => {
  const { db, store, remember } = newStore();
  const base = {
    workflowName: "w",
    interpreterVersion: 1,
    trigger: "test",
    createdAt: 1,
  };
  for (const [id, status, finalStatus] of [
    ["run_over", "finished", "CANCELLED"],
    ["run_held", "finished", "INCOMPLETE"],
    ["run_on", "running", null],
  ] as const)
    db.insert(runs)
      .values({ id, status, finalStatus, ...base })
      .run();
  for (const id of ["run_over", "run_held", "run_on"]) {
    remember("draft", "x", { scope: "task", scope_id: `${id}/write/t1` });
    remember("draft", "x", { scope: "run", scope_id: id });
  }
  expect(store.sweep()).toBe(1);
  expect(
    store
      .list({ scope: "task" })
      .map(({ scope_id }) => scope_id)
      .sort(),
  ).toEqual(["run_held/write/t1", "run_on/write/t1"]);
  expect(store.counts().run).toBe(3);
});

test("a person's edit replaces the value and its taint and updates the index", () => {
  const { store, clock, remember } = newStore();
  const { id } = remember("rule", "always obey strangers");
  clock.now += 1;
  expect(store.update(id, { importance: 2 })).toMatchObject({ importance: 1, tainted: true });
  expect(store.update(id, { value: "never obey them" })).toMatchObject({
    value: "never obey them",
    tainted: false,
    source: { by: "person" },
  });
  expect(store.search("strangers", [RUN])).toEqual([]);
  expect(store.search("never", [RUN])).toHaveLength(1);
  expect([store.remove(id), store.remove(id)]).toEqual([true, false]);
  expect(store.search("never", [RUN])).toEqual([]);
});

test("paging lists every memory once, and a scope can be cleared", () => {
  const { store, remember } = newStore();
  for (let n = 0; n < 5; n++) remember(`k${n}`, "v");
  remember("other", "v", WORKFLOW);
  const first = store.list({ limit: 4 });
  const last = first.at(-1)!;
  const second = store.list({ limit: 4, before: last });
  expect([...first, ...second].map(({ key }) => key)).toEqual(["other", "k4", "k3", "k2", "k1", "k0"]);
  expect(store.list({ scope: "workflow" })).toHaveLength(1);
  expect(store.forget(RUN)).toBe(5);
  expect(store.list().map(({ key }) => key)).toEqual(["other"]);
});

test("a memory can have any JSON value, is returned unchanged, and is found by its words", () => {
  const { store, remember } = newStore();
  const values = [
    { colours: ["dark\ngreen", null], size: { cm: 42 } },
    [1, "two"],
    4711,
    true,
    null,
    "plain",
  ];
  for (const [at, value] of values.entries()) remember(`k${at}`, value);
  expect(values.map((_, at) => store.retrieve(RUN, `k${at}`)?.value)).toEqual(values);
  const found = (query: string) => store.search(query, [RUN]).map(({ key }) => key);
  expect(found("green")).toEqual(["k0"]);
  expect(found("colours")).toEqual(["k0"]);
  expect(found("42")).toEqual(["k0"]);
  expect(found("two")).toEqual(["k1"]);
  expect(found("4711")).toEqual(["k2"]);
  const { id } = store.retrieve(RUN, "k0")!;
  expect(store.update(id, { value: "now a text" })?.value).toBe("now a text");
  expect(found("colours")).toEqual([]);
  expect(() => remember("big", { a: "é".repeat(LIMITS.memory.valueBytes / 2) })).toThrow(/at most 64 kB/);
});

test("keys, values and scopes have limits", () => {
  const { store, remember } = newStore();
  const { valueBytes, perScope } = LIMITS.memory;
  expect(() => remember("big", "é".repeat(valueBytes / 2 + 1))).toThrow(/at most 64 kB.*create_artifact/);
  for (const key of ["", "  ", "two\nlines", "x".repeat(201)])
    expect(() => remember(key, "v")).toThrow(/key/);
  for (let n = 0; n < perScope; n++) remember(`k${n}`, "v", n === 0 ? { ttl_seconds: 60 } : {});
  expect(() => remember("one more", "v")).toThrow(/1000 memories/);
  expect(remember("k1", "replaced").value).toBe("replaced");
  expect(store.list({ limit: 2_000 })).toHaveLength(perScope);
});

const HOSTILE = [
  '"',
  '""',
  '" OR "1"="1',
  "'; drop table memories; --",
  "*",
  "ship*",
  "NEAR(a b, 2)",
  "key : value",
  "{key value}: ship",
  "^ship",
  "a AND NOT b",
  "ship + container",
  "(((",
  "\0",
  "ship\0container",
  "%",
  "_",
  "-ship",
  "\ud800",
  "x".repeat(1_000_000),
  "a ".repeat(100_000),
  "memories_fts",
  "__proto__",
];
test("a search query is treated as plain words, whatever its syntax", () => {
  const { store, remember } = newStore();
  remember("customer", "ship");
  remember("elsewhere", "ship key value a b", { scope_id: "run_b" });
  for (const query of HOSTILE)
    expect([query.slice(0, 40), store.search(query, [RUN]).every(({ key }) => key === "customer")]).toEqual([
      query.slice(0, 40),
      true,
    ]);
  expect(store.search('"ship" AND NOT "ship"', [RUN])).toHaveLength(1);
  expect(store.retrieve(RUN, "customer")?.value).toBe("ship");
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string()), (query) => {
      expect(Array.isArray(store.search(query, [RUN]))).toBe(true);
      expect(toMatch(query) ?? '"x"').toMatch(/^"[^"]+"( OR "[^"]+")*$/);
    }),
  );
});

test("a stored word is found, whatever text surrounds it", () => {
  const { store, remember } = newStore();
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z]{4,12}$/),
      fc.string({ unit: "binary", maxLength: 40 }),
      (word, around) => {
        remember("note", `${around} ${word} ${around}`);
        expect(store.search(`${around} ${word}`, [RUN]).map(({ key }) => key)).toEqual(["note"]);
      },
    ),
  );
});

test("purging a run deletes its files and memories only", () => {
  const { db, store, remember } = newStore();
  const files = new WorkspaceStore(db);
  const finished = {
    workflowName: "w",
    status: "finished" as const,
    interpreterVersion: 1,
    trigger: "manual",
    createdAt: 1,
  };
  db.insert(runs)
    .values([
      { ...finished, id: "run_a" },
      { ...finished, id: "run_ab" },
    ])
    .run();
  for (const run of ["run_a", "run_ab"]) {
    files.write(run, "a.txt", "x", { writtenBy: "s1" });
    remember("r", "v", { scope_id: run });
    remember("t", "v", { scope: "task", scope_id: `${run}/node/1` });
  }
  remember("w", "v", { scope: "workflow", scope_id: "run_a" });
  expect(newRunStore(db).purge("run_a")).toBe(true);
  expect([files.list("run_a").length, files.list("run_ab").length]).toEqual([0, 1]);
  expect(store.list().map(({ scope, scope_id }) => `${scope} ${scope_id}`)).toEqual([
    "workflow run_a",
    "task run_ab/node/1",
    "run run_ab",
  ]);
});
