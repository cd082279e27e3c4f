import { z } from "zod";
import { RunConfigChanges } from "@/server/domain/agent/outcome";
import { Id, Json, JsonObject } from "@/server/domain/base/values";
import { Pins } from "@/server/domain/run/commands/pins";
import { MOST_REPEATED, RepeatedCommand } from "@/server/domain/run/commands/repeated";
import type { QuestionKind } from "@/server/domain/run/events";
import { Cassette } from "./cassette";
import { Expectation } from "./expectation";

/** How many tests a workflow may have. */
export const MOST_TESTS = 500;

const AskedKind = z.enum([
  "tool_confirmation",
  "escalation",
  "review",
  "tie",
  "question",
  "approval",
  "input",
  "feedback",
  "budget",
]) satisfies z.ZodType<QuestionKind>;

/** An answer of a person. Each question takes the first unused one that fits. */
export const PeopleAnswer = z.strictObject({
  /** The node that asks; absent: any. */
  node_id: Id.exactOptional(),
  kind: AskedKind.exactOptional(),
  /** What the question's title contains. */
  title: z.string().min(1).max(500).exactOptional(),
  /** The answer as people give it: approve, reject, or the label of an option. `expired`: the question times out. */
  answer: z.string().min(1).max(200),
  value: Json.exactOptional(),
  calls: z.array(z.number().int().min(0).max(99)).max(100).exactOptional(),
  content: JsonObject.exactOptional(),
  message: z.string().max(4000).exactOptional(),
});
export type PeopleAnswer = z.infer<typeof PeopleAnswer>;

/** The test runs `times` times and passes if at least `at_least` runs pass. */
export const Repeats = z
  .strictObject({ times: z.number().int().min(1).max(100), at_least: z.number().int().min(1).max(100) })
  .refine(({ times, at_least }) => at_least <= times, "at_least can't exceed times.");
export type Repeats = z.infer<typeof Repeats>;

/** Path segments that an id must not shadow. */
const TAKEN = new Set(["run", "results", "mutants", "compare", "judges"]);

export const TestId = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/, "Use letters, digits, _ . - (at most 64)")
  .refine((id) => !TAKEN.has(id), "This name is reserved");

/** A test without its id. */
export const ScenarioFields = z.strictObject({
  name: z.string().trim().min(1).max(200),
  input: JsonObject.default({}),
  /** Run settings that override those of the workflow. */
  config: RunConfigChanges.exactOptional(),
  /** Start of the simulated clock, Unix time in milliseconds; absent: `USUAL_START`. */
  starts_at: z.number().int().nonnegative().max(8.64e15).exactOptional(),
  /** Recorded answers; any other call fails the test. */
  answers: Cassette.exactOptional(),
  /** Outputs of nodes that do not run. */
  pins: Pins.exactOptional(),
  people: z.array(PeopleAnswer).max(200).default([]),
  /** Commands of people, each at its place. Mode and breakpoints apply only with these. */
  commands: z.array(RepeatedCommand).max(MOST_REPEATED).exactOptional(),
  expect: z.array(Expectation).max(200).default([]),
  repeats: Repeats.exactOptional(),
  /** The offline demo model answers, whatever models the workflow names. */
  simulated: z.literal(true).exactOptional(),
});
export type ScenarioFields = z.infer<typeof ScenarioFields>;

/** A test of a workflow: input, answers, expectations. */
export const ScenarioTest = ScenarioFields.extend({ id: TestId });
export type ScenarioTest = z.infer<typeof ScenarioTest>;

/** 1 January 2026, 09:00 UTC. */
export const USUAL_START = Date.UTC(2026, 0, 1, 9);
