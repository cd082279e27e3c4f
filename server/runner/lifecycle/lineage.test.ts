import { expect, test } from "vitest";
import { z } from "zod";
import type { RunEvent } from "@/server/domain/run/events";
import type { ReplayMode } from "@/server/domain/run/fork/lineage";
import { draw } from "@/server/domain/testing/drawing";
import { sized } from "@/server/testing/thorough";
import { defineTool } from "@/server/tools/define";
import { fakeModels, fakeTools, newStage, role } from "../testing";

/*
 * Runs that come from one another, by chance: forks and replays of originals, of forks, of replays, of runs that still ask,
 * of cancelled ones, and of runs whose call is in flight or was when they were cancelled. Some of what they do is done by
 * runs that they start. Outside happens what the original did, what people approved, and what no run of the lineage had
 * done before; nothing else.
 */

const LINEAGES = sized(8, 100);
const GENERATIONS = sized(8, 16);

/** Pseudo-random numbers from 0 to 1, the same in each run of the test. */
function newRandom(seed: number) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  for (let k = 0; k < 5; k++) next();
  const below = (n: number) => Math.floor(next() * n);
  return {
    below,
    chance: (share: number) => next() < share,
    pick: <T>(of: readonly T[]) => of[below(of.length)]!,
  };
}
type Random = ReturnType<typeof newRandom>;

const write = (line: string) => ({
  node_type: "tool_call",
  config: { tool_name: "write", args: { line: { $template: line } } },
});

/** The same in a child run. */
const writeInChild = (line: string) => ({
  node_type: "sub_workflow",
  config: { workflow_id: "writes", input: { line: `"${line.replace("{{n}}", "")}" + string(state.n)` } },
});
const WRITES = draw("start > s > end", {
  start: { node_type: "start", output_keys: ["line"] },
  s: write("{{line}}"),
});

/** Some rounds of a loop in which lines are written: the same each time, or another one in each round. */
function arbitraryGraph({ below, chance, pick }: Random) {
  const rounds = below(3);
  const names = Array.from({ length: 1 + below(3) }, (_, k) => `s${k}`);
  const parts = chance(0.5) ? [...names, "a"] : names;
  const lines = Object.fromEntries(
    names.map((name) => {
      const line = pick(["same", `${name} {{n}}`, name]);
      return [name, chance(0.4) ? writeInChild(line) : write(line)];
    }),
  );
  const body = chance(0.25) ? "gate > n" : "n";
  return draw(`start > ${body}; n > ${parts.join(" > ")} > r; r again> n; r done> end`, {
    n: {
      config: {
        set: {
          n: "('n' in state ? state.n : 0) + 1",
          r: `('n' in state ? state.n : 0) < ${rounds} ? 'again' : 'done'`,
        },
      },
      output_keys: ["n", "r"],
    },
    ...lines,
    a: {
      node_type: "agent_task",
      config: { required_role: "Worker", task_description_template: "Round {{n}}" },
      output_keys: ["said"],
    },
    gate: {
      node_type: "approval_gate",
      config: { title: "Go on?", options: ["approved"] },
      output_keys: ["gate"],
    },
  });
}

interface Born {
  id: string;
  replay?: ReplayMode;
  /** Nothing but its answers may differ from its original's. */
  isPlain: boolean;
  from?: Born;
}

function newWorld({ chance }: Random) {
  /** Calls that wrote their line and never answered. */
  const hanging: { run: string; line: string }[] = [];
  const written: { run: string; key: string; original: string | undefined }[] = [];
  const unasked: string[] = [];
  const approved = new Set<string>();
  const models = fakeModels(() => "an answer");
  const tools = fakeTools([
    defineTool({
      name: "write",
      description: "Writes a line outside",
      input: z.object({ line: z.string() }),
      source: "builtin",
      risk: "LOW",
      async execute({ line }, { run, idempotencyKey, originalKey, signal }) {
        const id = run!.id;
        written.push({ run: id, key: idempotencyKey, original: originalKey });
        const mine = started(stage.store.events(id, 0, 1e6), line) - 1;
        const left = (of: string) => hanging.filter((one) => one.run === of && one.line === line).length;
        const before = stage.store
          .ancestors(id)
          .map((one) => made(stage.store.events(one.id, 0, 1e6), line) + left(one.id));
        if (!approved.has(idempotencyKey) && before.some((count) => count > mine))
          unasked.push(`${idempotencyKey} ${line}`);
        if (chance(0.1)) {
          hanging.push({ run: id, line });
          await new Promise((_answer, abort) => signal.addEventListener("abort", abort));
        }
        return `wrote ${line}`;
      },
    }),
  ]);
  const stage = newStage({ models, tools });
  return { stage, models, written, unasked, approved, hanging };
}
const isOf = (event: RunEvent, line: string) =>
  event.type === "tool_call_started" && event.payload.args.line === line;
const started = (events: readonly RunEvent[], line: string) =>
  events.filter((event) => isOf(event, line)).length;
/** How often a run has come to what the line gave: written by itself, or taken over. */
const made = (events: readonly RunEvent[], line: string) => {
  const calls = new Set(events.flatMap((event) => (isOf(event, line) ? [event.call_id] : [])));
  return events.filter(({ type, call_id }) => type === "tool_call_completed" && calls.has(call_id)).length;
};

/** Drives a run until it has ended, waits for a person who leaves it open, or is left with a call in flight. */
async function drive(world: ReturnType<typeof newWorld>, id: string, random: Random) {
  const { stage, approved, hanging } = world;
  const left = new Set<string>();
  for (;;) {
    const { status, waits_for } = stage.store.find(id)!;
    if (status === "finished") return stage.host.settled(id);
    if (waits_for === "run") {
      const [child] = stage.store.openChildren(id);
      // A question left open there is left open here.
      if (child && (await drive(world, child, random)) === "left") return "left";
      await new Promise((resolve) => setTimeout(resolve, 1));
      continue;
    }
    if (hanging.some(({ run }) => run === id)) {
      if (random.chance(0.5)) return "left";
      stage.host.cancel(id, { by: "ann", reason: "" });
      await expect.poll(() => stage.store.find(id)?.status, { interval: 1 }).toBe("finished");
      continue;
    }
    if (waits_for === "person") {
      const { interactions } = stage.store.state(id)!;
      const open = Object.values(interactions).filter(
        (one) => one.status === "open" && !left.has(one.id) && !isAnswered(stage, id, one.id),
      );
      const [question] = open;
      if (!question && left.size > 0) return "left";
      if (question) {
        const { fingerprint, kind } = question.requested;
        const choice = random.pick([
          "approve",
          "approve",
          "reject",
          "reject",
          "expired",
          "open",
          "cancel",
        ] as const);
        if (choice === "open") left.add(question.id);
        else if (choice === "cancel") stage.host.cancel(id, { by: "ann", reason: "" });
        else {
          if (choice === "approve") approved.add(`${id}/${question.id.replace(/\/before\d*$/, "")}`);
          const answer = kind === "approval" ? { answer: "chosen", option: "approved" } : { answer: choice };
          // What is no answer counts as none in time.
          stage.host.steering.answer(id, question.id, fingerprint, { ...answer, by: "ann" } as never);
        }
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
const isAnswered = (stage: ReturnType<typeof newStage>, id: string, question: string) =>
  stage.db.$client
    .prepare("select 1 from run_signals where run_id = ? and name = ?")
    .get(id, `answer:${question}`) !== undefined;

const outcome = (stage: ReturnType<typeof newStage>, id: string) => {
  const { run, state } = stage.store.state(id)!;
  return [run.final_status, run.reason_code, state];
};

test.each(Array.from({ length: LINEAGES }, (_, seed) => [seed]))(
  "forks and replays make only calls that are new or approved: lineage %i",
  { timeout: sized(60_000, 120_000) },
  async (seed) => {
    const random = newRandom(seed + 1);
    const world = newWorld(random);
    const { stage, models, written } = world;
    const first: Born = {
      id: stage.start(arbitraryGraph(random), { roles: [role("Worker")], workflows: { writes: WRITES } }),
      isPlain: true,
    };
    await drive(world, first.id, random);
    const born = [first];
    for (let k = 0; k < GENERATIONS; k++) {
      const from = random.pick(random.chance(0.5) ? born.slice(-2) : born);
      if (random.chance(0.15)) {
        await drive(world, from.id, random);
        continue;
      }
      const replay = random.chance(0.3) ? random.pick(["strict", "lenient"] as const) : undefined;
      const last = stage.store.find(from.id)!.last_seq;
      const isChanged = !replay && random.chance(0.25);
      const { run_id } = stage.host.fork({
        run_id: from.id,
        patches: isChanged ? { state: { set: { n: random.below(3) }, remove: [] } } : {},
        graph: "original",
        by: "ann",
        trigger: "test",
        ...(replay ? { replay } : { at: { seq: 1 + random.below(last) } }),
      });
      const one: Born = {
        id: run_id,
        ...(replay ? { replay } : {}),
        isPlain: from.isPlain && !isChanged,
        from,
      };
      born.push(one);
      const before = [written.length, models.requests.length];
      await drive(world, run_id, random);
      if (replay !== "strict") continue;
      expect([written.length, models.requests.length]).toEqual(before);
      if (from.isPlain && stage.store.find(from.id)!.status === "finished")
        expect([from, outcome(stage, run_id)]).toEqual([from, outcome(stage, from.id)]);
    }
    expect(world.unasked).toEqual([]);
    const isChild = (run: string) => stage.store.find(run)?.parent != null;
    for (const { run, key, original } of written.filter((one) => !isChild(one.run)))
      expect(original ?? key).toBe(`${first.id}${key.slice(run.length)}`);
  },
);
