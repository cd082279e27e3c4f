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

/** What a person answers in a test. The first that fits a question and is not used yet is taken. */
export const PeopleAnswer = z.strictObject({
  /** The node that asks; absent: any. */
  node_id: Id.exactOptional(),
  kind: AskedKind.exactOptional(),
  /** What the question's title contains. */
  title: z.string().min(1).max(500).exactOptional(),
  /** As people answer: approve, reject, the label of an option. `expired`: nobody answers until the time is over. */
  answer: z.string().min(1).max(200),
  value: Json.exactOptional(),
  calls: z.array(z.number().int().min(0).max(99)).max(100).exactOptional(),
  content: JsonObject.exactOptional(),
  message: z.string().max(4000).exactOptional(),
});
export type PeopleAnswer = z.infer<typeof PeopleAnswer>;

/** A test is run several times, and passes where it passes so often. */
export const Repeats = z
  .strictObject({ times: z.number().int().min(1).max(100), at_least: z.number().int().min(1).max(100) })
  .refine(({ times, at_least }) => at_least <= times, "At least cannot be more than times.");
export type Repeats = z.infer<typeof Repeats>;

/** Words that stand in addresses where ids of tests do. */
const TAKEN = new Set(["run", "results", "mutants", "compare", "judges"]);

export const TestId = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/, "Use letters, digits, _ . - (at most 64)")
  .refine((id) => !TAKEN.has(id), "This word is reserved");

/** What belongs to a test, beside its id. */
export const ScenarioFields = z.strictObject({
  name: z.string().trim().min(1).max(200),
  input: JsonObject.default({}),
  /** Limits and manners of its run, over those of the workflow. */
  config: RunConfigChanges.exactOptional(),
  /** When it begins, Unix time in milliseconds; absent: the same moment always. */
  starts_at: z.number().int().nonnegative().max(8.64e15).exactOptional(),
  /** What models and tools answer; whatever else is asked fails the test. */
  answers: Cassette.exactOptional(),
  /** What nodes give instead of being carried out. */
  pins: Pins.exactOptional(),
  people: z.array(PeopleAnswer).max(200).default([]),
  /** What people tell the run beside answering it, each at its place. Its mode and breakpoints hold only with these. */
  commands: z.array(RepeatedCommand).max(MOST_REPEATED).exactOptional(),
  expect: z.array(Expectation).max(200).default([]),
  repeats: Repeats.exactOptional(),
  /** The offline demo model answers, whatever models the workflow names. */
  simulated: z.literal(true).exactOptional(),
});
export type ScenarioFields = z.infer<typeof ScenarioFields>;

/** A test of a workflow: what comes in, what is answered on the way, and what has to hold. */
export const ScenarioTest = ScenarioFields.extend({ id: TestId });
export type ScenarioTest = z.infer<typeof ScenarioTest>;

/** The moment at which tests begin that say none: 1 January 2026, 09:00 UTC. */
export const USUAL_START = Date.UTC(2026, 0, 1, 9);
