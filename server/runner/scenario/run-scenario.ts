import { type InstallationRules, RunConfig } from "@/server/domain/agent/outcome";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { present } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { modelUses } from "@/server/domain/library/model-uses";
import { roleUses } from "@/server/domain/library/role-use";
import type { RunState } from "@/server/domain/run";
import { keptCommands } from "@/server/domain/run/commands/repeated";
import { EDITION } from "@/server/domain/run/edition";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import type { CalledWorkflow } from "@/server/domain/run/events/child-events";
import type { ForeignText } from "@/server/domain/run/foreign-text";
import { openInteractions } from "@/server/domain/run/questions/open-questions";
import { readAnswer } from "@/server/domain/run/questions/person-answer";
import { RULES_NOW, USUAL_PEOPLE } from "@/server/domain/run/questions/question-times";
import type { MissedAnswer, UnansweredQuestion } from "@/server/domain/scenario/report";
import { type PeopleAnswer, type ScenarioFields, USUAL_START } from "@/server/domain/scenario/scenario-test";
import { childResultOf } from "../children/child-run";
import { BrokenOff, NothingLeft, VirtualRun } from "../durable/virtual-run";
import { execute } from "../interpreter/execute";
import { storedCreation } from "../lifecycle/creation-cache";
import { creationOf as creationOfStart } from "../lifecycle/start-request";
import type { ChildRunner } from "../node/ports";
import { type Answering, Missed } from "./answering";

/** The workflow under test, with everything it refers to. */
export interface Tested {
  name: string;
  /** Crews and agents of the library are included. */
  graph: WorkflowGraph;
  roles: readonly RoleDefinition[];
  installation?: InstallationRules | undefined;
  foreign?: ForeignText | undefined;
  /** The workflows that it runs, and those that these run, by id. */
  workflows?: Record<string, CalledWorkflow> | undefined;
  /** Its variables, unless the recording has its own. */
  variables?: JsonObject | undefined;
}

/** The run of a test, complete or not. */
export interface ScenarioRun {
  events: RunEvent[];
  state: RunState;
  missed: MissedAnswer | null;
  question: UnansweredQuestion | null;
  /** Why an answer of the test does not fit its question. */
  wrongAnswer: string | null;
  /** Why a command of the test was not repeated. */
  notRepeated: string | null;
  unused: number;
  duration_ms: number;
}

/** The edition of cassettes that name none. */
const LAST_UNRECORDED = 2;

/** The id of a test's run where its answers were not recorded from another: expressions may read it. */
const RUN_ID = "run_test";

class Unanswered extends BrokenOff {
  override name = "Unanswered";
  constructor(readonly question: UnansweredQuestion) {
    super(question.title);
  }
}
class WrongAnswer extends BrokenOff {
  override name = "WrongAnswer";
}

/**
 * Runs a test with the interpreter of all runs. Nothing is stored, time is simulated, and only `world` answers external
 * requests.
 */
export async function runScenario(
  tested: Tested,
  test: ScenarioFields,
  world: Answering,
  aborted?: AbortSignal,
): Promise<ScenarioRun> {
  const begunAt = test.starts_at ?? USUAL_START;
  const created = creationOf(tested, test, begunAt, world);
  const runId = test.answers?.recorded.run_id ?? RUN_ID;
  const virtual = newVirtual(runId, begunAt, { world, people: new People(test.people), aborted });
  const { context } = virtual;
  const run = { missed: null, question: null, wrongAnswer: null };
  let ended: Partial<Pick<ScenarioRun, "missed" | "question" | "wrongAnswer">> = {};
  try {
    await virtual.execute(created);
  } catch (error) {
    if (error instanceof Missed) ended = { missed: error.missed };
    else if (error instanceof Unanswered) ended = { question: error.question };
    else if (error instanceof WrongAnswer) ended = { wrongAnswer: error.message };
    else if (!(error instanceof NothingLeft)) throw error;
  }
  return {
    ...run,
    ...ended,
    notRepeated: notRepeatedIn(context.events),
    events: [created, ...context.events],
    state: virtual.state(),
    unused: world.unused(),
    duration_ms: context.now - begunAt,
  };
}

interface Around {
  world: Answering;
  people: People;
  aborted: AbortSignal | undefined;
}

/** A run that stores nothing; the runs that its nodes start are such runs as well, with the same answers. */
function newVirtual(runId: string, begunAt: number, around: Around) {
  const { world, people, aborted } = around;
  let state: RunState | null = null;
  const context = new VirtualRun(runId, begunAt, {
    ...(world.isReal ? { first: "by_time", measures: true } : { first: "by_place" }),
    serve: ({ request, key }) => request && world.serve(request, key),
    idle: (deliver) => (state ? people.answer(state, deliver) : false),
    aborted,
  });
  const known = () => present<RunState>(state ?? undefined, "state");
  const runs: ChildRunner = {
    async run({ run_id, request }) {
      const child = newVirtual(run_id, context.now, around);
      const about = { now: context.now, past_work: [] };
      await child.execute(creationOfStart({ ...request, trigger: "test" }, about));
      return childResultOf(child.state());
    },
    cancel() {},
  };
  return {
    context,
    state: known,
    execute: (created: RunEventOf<"run_created">) =>
      execute(context, created, { ...world.effects, runs }, (s) => {
        state = s;
      }),
  };
}

function notRepeatedIn(events: readonly RunEvent[]): string | null {
  const found = events.find(({ type, payload }) => type === "warning" && payload.code === "NOT_REPEATED");
  return found?.type === "warning" ? found.payload.message : null;
}

function creationOf(
  { name, graph, roles, installation, foreign, workflows, variables }: Tested,
  { input, pins, config: changes, answers, commands = [] }: ScenarioFields,
  ts: number,
  { effects: { models }, isRecorded }: Answering,
): RunEventOf<"run_created"> {
  const used = roleUses(graph);
  const config: RunConfig = RunConfig.parse({
    ...graph.config,
    ...changes,
    // Nobody resumes it except the test's own commands.
    ...(commands.length > 0 ? {} : { mode: "continuous", breakpoints: undefined }),
  });
  const { context_windows, prompt_seed, past_work = [] } = answers?.recorded ?? {};
  const asked = modelUses(graph).flatMap(({ choice }) => models.describe(choice) ?? []);
  const together = (names: string[]) => [...new Set(names)].join(" and ");
  return storedCreation({
    type: "run_created",
    seq: 1,
    ts,
    payload: defined({
      graph,
      roles: roles.filter((role) => used.has(role.name)),
      workflow_id: null,
      workflow_name: name,
      input,
      config,
      trigger: "test" as const,
      origin: answers?.recorded.origin ?? ({ kind: "test", trusted: true } as const),
      provider_summary:
        asked.length === 0
          ? null
          : {
              name: together(asked.map((one) => one.name)),
              model: together(asked.map(({ model }) => model)),
              simulated: asked.every(({ simulated }) => simulated),
            },
      foreign,
      workflows,
      variables: answers?.recorded.variables ?? variables,
      people: { ...USUAL_PEOPLE, ...RULES_NOW },
      // What was recorded is found by what was asked then.
      edition: answers && isRecorded ? (answers.recorded.edition ?? LAST_UNRECORDED) : EDITION,
      prompt_seed,
      context_windows,
      past_work: past_work.length > 0 ? past_work : undefined,
      installation,
      repeats: commands.length > 0 ? keptCommands(commands) : undefined,
      can_hold: config.mode === "continuous" ? undefined : (true as const),
      pins: pins && Object.keys(pins).length > 0 ? pins : undefined,
    }),
  });
}

/** Answers questions: each answer is given once, to the first question that it fits. */
class People {
  private readonly left: PeopleAnswer[];
  /** Questions that are left to expire. */
  private readonly leftOpen = new Set<string>();

  constructor(answers: readonly PeopleAnswer[]) {
    this.left = [...answers];
  }

  /** Answers open questions. Returns false if there are none. Throws if an answer is missing or does not fit. */
  answer(state: RunState, deliver: (name: string, value: Json) => void): boolean {
    let isAny = false;
    for (const { id, node_id, requested } of openInteractions(state)) {
      if (this.leftOpen.has(id)) continue;
      const { kind, title, why, options, mode } = requested;
      const at = this.left.findIndex(
        (one) =>
          (one.node_id ?? node_id) === node_id &&
          (one.kind ?? kind) === kind &&
          (one.title === undefined || title.includes(one.title)),
      );
      const found = this.left[at];
      if (!found) {
        if (mode === "advisory") continue;
        const labels = options?.map(({ label }) => label);
        throw new Unanswered(defined({ node_id, kind, title, why, options: labels }));
      }
      this.left.splice(at, 1);
      if (found.answer === "expired") {
        this.leftOpen.add(id);
        continue;
      }
      const { node_id: _node, kind: _kind, title: _title, ...answer } = found;
      const read = readAnswer(requested, answer);
      if (!read.ok) {
        const errors = read.errors.map(({ key, message }) => `${key}: ${message}`).join(" ");
        throw new WrongAnswer(`The answer to “${title}” is invalid: ${errors}`);
      }
      deliver(`answer:${id}`, { ...read.answer, by: "test" });
      isAny = true;
    }
    return isAny;
  }
}
