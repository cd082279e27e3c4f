import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { z } from "zod";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import type { Json } from "@/server/domain/base/values";
import { inputFields } from "@/server/domain/graph/run-input";
import type { RunEvent } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { newModels } from "@/server/llm/models";
import { newOfflineFetch } from "@/server/llm/offline";
import { memoryProviders, offlineProvider } from "@/server/llm/testing";
import { templates } from "@/server/templates";
import { defineTool, ToolFailure } from "@/server/tools/define";
import { cases, roles as crewRoles, graphOf, modelsOf } from "./crew/testing";
import { WorkTime } from "./durable/clock";
import { EmbeddedRun } from "./durable/embedded";
import type { Turn } from "./durable/embedded-contract";
import { INTERPRETER_VERSION } from "./interpreter/execute";
import { interpreters } from "./interpreter/interpreters";
import { fakeModels, fakeTools, newStage, role } from "./testing";

/*
 * Logs of whole runs as they were recorded, replayed by this build: each must make the very events that it holds, and
 * nothing new. Where that fails, runs of that version would break in the middle: keep the old interpreter beside the new.
 * Recorded anew, for the present version alone, by: TROUPE_RECORD_JOURNALS=1 npx vitest run server/runner/journals
 * TROUPE_RECORD_JOURNALS=add keeps the logs that are there and records what is new.
 */

interface Recorded {
  name: string;
  id: string;
  version: number;
  turns: Turn[];
  timers: [string, number][];
  signals: [string, Json][];
}

const folder = path.join(import.meta.dirname, "journals");
const fileOf = (version: number) => path.join(folder, `v${version}.json.gz`);

const readRecorded = (file: string) =>
  JSON.parse(gunzipSync(readFileSync(file)).toString("utf8")) as Recorded[];

type Stage = ReturnType<typeof newStage>;

function journalOf({ store }: Stage, name: string, id: string): Recorded {
  const { version, turns, timers, signals } = store.journal(id);
  return { name, id, version, turns, timers: [...timers], signals: [...signals] };
}

const tool = (name: string, execute: () => Json, risk: "LOW" | "HIGH" = "LOW") =>
  defineTool({ name, description: "For the record", input: z.object({}), source: "builtin", risk, execute });

/** Runs of every kind, with what people do to them on the way. */
async function recordAll(): Promise<Recorded[]> {
  const recorded: Recorded[] = [];
  const offline = () =>
    newModels({ providers: memoryProviders([offlineProvider]), offlineFetch: newOfflineFetch({ speed: 0 }) });
  for (const { key, graph } of templates) {
    const stage = newStage({ models: offline() });
    const text = "Please approve my vacation for next week.";
    const input = Object.fromEntries(inputFields(graph).map((field) => [field.key, text]));
    recorded.push(
      journalOf(
        stage,
        `template ${key}`,
        (await stage.run(graph, { input, roles: builtinRoles, agrees: true })).id,
      ),
    );
  }
  for (const [name, one] of Object.entries(cases)) {
    const stage = newStage({ models: modelsOf(one.answer) });
    recorded.push(
      journalOf(stage, `crew: ${name}`, (await stage.run(graphOf(one), { roles: crewRoles })).id),
    );
  }

  const drawings: Record<string, ReturnType<typeof draw>> = {
    "a long chain": draw(`start > ${Array.from({ length: 150 }, (_, k) => `t${k}`).join(" > ")} > end`),
    "branches that join": draw("start > a > j; start > w > j; start > b > c > j; j > end"),
    "a failure with a way out": draw("start > a > end; a !> b > end2", {
      a: { config: { set: { a: "state.missing.deeper" } } },
    }),
    "a failure": draw("start > a > end", { a: { config: { set: { a: "state.missing.deeper" } } } }),
    "a loop": draw("start > a > r; r again> a; r done> end", {
      a: {
        config: {
          set: {
            n: "('n' in state ? state.n : 0) + 1",
            r: "('n' in state ? state.n : 0) < 4 ? 'again' : 'done'",
          },
        },
        output_keys: ["n", "r"],
      },
    }),
  };
  for (const [name, graph] of Object.entries(drawings)) {
    const stage = newStage();
    recorded.push(journalOf(stage, name, (await stage.run(graph)).id));
  }

  let fails = 2;
  const tools = fakeTools([
    tool("shaky", () => {
      if (fails-- > 0) throw new ToolFailure(503, "It sleeps.");
      return { ok: true };
    }),
    tool("risky", () => "done", "HIGH"),
  ]);
  const call = (tool_name: string, more: object = {}) => ({
    node_type: "tool_call",
    config: { tool_name },
    ...more,
  });
  const act = async (
    name: string,
    graph: ReturnType<typeof draw>,
    more: Parameters<Stage["start"]>[1],
    intervene: (stage: Stage, id: string) => Promise<void> | void,
  ) => {
    const stage = newStage({ tools, models: fakeModels(() => "an answer") });
    const id = stage.start(graph, more);
    await intervene(stage, id);
    await stage.host.settled(id);
    recorded.push(journalOf(stage, name, id));
  };
  const waiting = async (stage: Stage, id: string) => {
    while (stage.store.find(id)!.status !== "waiting") await new Promise((resolve) => setTimeout(resolve, 2));
  };
  const retries = {
    shaky: call("shaky", { retry: { max_attempts: 4, initial_delay_ms: 1, retry_on: ["TOOL_FAILED"] } }),
  };
  await act("a tool that is tried again", draw("start > shaky > end", retries), {}, () => {});
  for (const answer of ["approve", "reject"] as const)
    await act(
      `a person: ${answer}`,
      draw("start > risky > a > end", { risky: call("risky") }),
      {},
      async (stage, id) => {
        await waiting(stage, id);
        const [open] = Object.values(stage.store.state(id)!.interactions);
        stage.host.steering.answer(id, open!.id, open!.requested.fingerprint, { answer, by: "ann" });
      },
    );
  const asks = {
    ask: {
      node_type: "agent_task",
      config: { required_role: "Worker", task_description_template: "Do it." },
    },
  };
  await act(
    "an agent with a time limit",
    draw("start > ask > end", asks),
    { roles: [role("Worker")] },
    () => {},
  );
  await act(
    "a cancel",
    draw("start > w > end", { w: { config: { ms: 600_000 } } }),
    {},
    async (stage, id) => {
      await waiting(stage, id);
      stage.host.cancel(id, { by: "user", reason: "enough" });
    },
  );
  await act(
    "a limit that is raised",
    draw("start > a > b > c > d > end"),
    { config: { max_steps: 3 } },
    async (stage, id) => {
      await stage.host.settled(id);
      void stage.host.steering.raiseLimit(id, "max_steps", 50, "user");
    },
  );
  const gate = draw("start > gate; gate approved> form > end; gate rejected> bad", {
    gate: {
      node_type: "approval_gate",
      output_keys: ["letter"],
      config: {
        title: "Send it?",
        body_template: "To {{state.to}}",
        options: ["approved", "rejected"],
        allow_edit: true,
        assigned_to: "Ann",
        required_expertise: ["letters"],
        escalation: [{ after_s: 3600, to: "Bo" }],
      },
    },
    form: {
      node_type: "user_input",
      output_keys: ["name"],
      config: {
        title: "Who signs?",
        schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      },
    },
    bad: { node_type: "end" },
  });
  const openIn = (stage: Stage, id: string) =>
    Object.values(stage.store.state(id)!.interactions).find(({ status }) => status === "open");
  const answerQuestion = async (
    stage: Stage,
    id: string,
    kind: string,
    answer: Parameters<Stage["host"]["steering"]["answer"]>[3],
  ) => {
    for (;;) {
      const open = openIn(stage, id);
      if (open?.requested.kind === kind)
        return void stage.host.steering.answer(id, open.id, open.requested.fingerprint, answer);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  for (const option of ["approved", "rejected"])
    await act(`a gate: ${option}, then a form`, gate, { input: { to: "Eve" } }, async (stage, id) => {
      await answerQuestion(stage, id, "approval", {
        answer: "chosen",
        option,
        value: "Dear Eve",
        message: "so",
        by: "ann",
      });
      if (option === "approved")
        await answerQuestion(stage, id, "input", { answer: "given", value: { name: "Cy" }, by: "bo" });
    });
  for (const option of ["raise", "stop"])
    await act(
      `a limit before a node that asks: ${option}`,
      draw("start > a > b > end"),
      { config: { max_steps: 2, on_limit: "ask" } },
      async (stage, id) => {
        await answerQuestion(stage, id, "budget", { answer: "chosen", option, by: "ann" });
        await stage.host.settled(id);
        // A run that stopped at a limit goes on, and a log is whole only then.
        if (option === "stop") void stage.host.steering.raiseLimit(id, "max_steps", 50, "bo");
      },
    );
  return recorded;
}

/** What this build makes of a recorded log. Throws where it would do anything that the log does not hold. */
async function replay({ id, version, turns, timers, signals }: Recorded): Promise<RunEvent[]> {
  const created = turns[0]!.events[0]!;
  const made = [created];
  const engine = new EmbeddedRun(
    id,
    {
      record: ({ events }) => Promise.reject(new Error(`New: ${events.map(({ type }) => type).join()}`)),
      computing: () => {},
      live: () => {},
      workerId: "replay",
      time: new WorkTime(),
    },
    { turns, timers: new Map(timers), signals: new Map(signals) },
  );
  const recordedOf = engine.asRecorded.bind(engine);
  engine.asRecorded = (event) => {
    made.push(event);
    return recordedOf(event);
  };
  const nobody = fakeModels(() => Promise.reject(new Error("A replay asks no model.")));
  await interpreters[version]!(engine, created, { models: nobody });
  await engine.close();
  return made;
}

/** Texts for people, which a later version may word differently, and hashes of them. */
const WORDING = new Set(["message", "title", "why", "reason", "fingerprint", "warnings", "label"]);
const withoutWording = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, inner: unknown) => (WORDING.has(key) ? typeof inner : inner)));

if (process.env.TROUPE_RECORD_JOURNALS) {
  const all = await recordAll();
  const known = process.env.TROUPE_RECORD_JOURNALS === "add" ? readRecorded(fileOf(INTERPRETER_VERSION)) : [];
  const recorded = [...known, ...all.filter(({ name }) => !known.some((one) => one.name === name))];
  mkdirSync(folder, { recursive: true });
  writeFileSync(fileOf(INTERPRETER_VERSION), gzipSync(JSON.stringify(recorded), { level: 9 }));
}

const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json.gz")) : [];

test("every available interpreter version has recorded logs", () => {
  expect(files.toSorted()).toEqual(Object.keys(interpreters).map((version) => `v${version}.json.gz`));
});

for (const file of files) {
  for (const recorded of readRecorded(path.join(folder, file)))
    test(`a run recorded by ${file.replace(".json.gz", "")} replays to the same events: ${recorded.name}`, async () => {
      const held = recorded.turns.flatMap(({ events }) => events);
      const made = JSON.parse(JSON.stringify(await replay(recorded))) as RunEvent[];
      expect(withoutWording(made)).toEqual(withoutWording(held));
    });
}
