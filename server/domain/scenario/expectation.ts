import { z } from "zod";
import { FinalStatus } from "@/server/domain/agent/outcome";
import { LlmConfig } from "@/server/domain/agent/role";
import { Id, Json, JsonSchema, StateKey } from "@/server/domain/base/values";
import { MAX_EXPRESSION_LENGTH } from "@/server/domain/text/expression/expression";

const Count = z.number().int().nonnegative().max(100_000);
const Text = z.string().min(1).max(20_000);

/** How the run ends. */
const StatusExpectation = z.strictObject({
  kind: z.literal("status"),
  is: FinalStatus,
  /** Why, as the run's reason_code says. */
  reason: z.string().max(60).exactOptional(),
});

/** Which nodes run. */
const PathExpectation = z.strictObject({
  kind: z.literal("path"),
  nodes: z.array(Id).min(1).max(1000),
  /**
   * exactly: these, in this order, and no others. in_order: these in this order, with others between. visited: each of
   * these, in any order. never: none of these.
   */
  mode: z.enum(["exactly", "in_order", "visited", "never"]).default("in_order"),
});

/** How often a node runs. */
const VisitsExpectation = z
  .strictObject({
    kind: z.literal("visits"),
    node: Id,
    times: Count.exactOptional(),
    at_least: Count.exactOptional(),
    at_most: Count.exactOptional(),
  })
  .refine(
    ({ times, at_least, at_most }) => (times ?? at_least ?? at_most) !== undefined,
    "Set how often: times, at_least or at_most.",
  );

/** A condition (CEL) over state, input, nodes and output at the end. */
const StateExpectation = z.strictObject({
  kind: z.literal("state"),
  when: z.string().min(1).max(MAX_EXPRESSION_LENGTH),
});

const CostExpectation = z.strictObject({ kind: z.literal("cost"), at_most_usd: z.number().nonnegative() });
const TokensExpectation = z.strictObject({ kind: z.literal("tokens"), at_most: Count.max(1_000_000_000) });

/** Who is asked. */
const QuestionsExpectation = z
  .strictObject({
    kind: z.literal("questions"),
    /** The nodes that ask, one entry for each question, in any order. */
    nodes: z.array(Id).max(200).exactOptional(),
    count: Count.exactOptional(),
  })
  .refine(
    ({ nodes, count }) => (nodes ?? count) !== undefined,
    "Specify the nodes, or the number of questions.",
  );

/** Whether a tool is called. */
const ToolsExpectation = z.strictObject({
  kind: z.literal("tools"),
  tool: z.string().min(1).max(200),
  /** What was refused counts as not called. */
  called: z.union([z.boolean(), Count]).default(true),
  /** Calls whose arguments fit this are meant; absent: all. */
  args: JsonSchema.exactOptional(),
  /** Calls in this node are meant; absent: all. */
  node: Id.exactOptional(),
});

/** A value of the state or the output; checked as JSON text if it is not a string. */
const TextExpectation = z
  .strictObject({
    kind: z.literal("text"),
    key: StateKey,
    of: z.enum(["state", "output"]).default("state"),
    contains: Text.exactOptional(),
    excludes: Text.exactOptional(),
    /** A pattern that matches anywhere. */
    matches: z.string().min(1).max(2000).exactOptional(),
    equals: Json.exactOptional(),
    schema: JsonSchema.exactOptional(),
  })
  .refine(
    ({ contains, excludes, matches, equals, schema }) =>
      [contains, excludes, matches, equals, schema].some((one) => one !== undefined),
    "Set contains, excludes, matches, equals or schema.",
  );

/** A model's verdict on a value by a rubric. */
export const JudgeExpectation = z.strictObject({
  kind: z.literal("judge"),
  rubric: Text,
  /** What it judges; absent: the whole output. */
  key: StateKey.exactOptional(),
  of: z.enum(["state", "output"]).default("state"),
  /** The least score, from 0 to 1. */
  threshold: z.number().min(0).max(1).default(0.7),
  model: LlmConfig.exactOptional(),
  /** Has no effect. Files that were written with it stay valid. */
  gate_kappa: z.number().min(0).max(1).default(0.6),
});
export type JudgeExpectation = z.infer<typeof JudgeExpectation>;

const RULES = [
  StatusExpectation,
  PathExpectation,
  VisitsExpectation,
  StateExpectation,
  CostExpectation,
  TokensExpectation,
  QuestionsExpectation,
  ToolsExpectation,
  TextExpectation,
] as const;

/** An expectation that the events of a run decide, without a model. */
export const RuleExpectation = z.discriminatedUnion("kind", RULES);
export type RuleExpectation = z.infer<typeof RuleExpectation>;

export const Expectation = z.discriminatedUnion("kind", [...RULES, JudgeExpectation]);
export type Expectation = z.infer<typeof Expectation>;
export type ExpectationKind = Expectation["kind"];
export type ExpectationOf<K extends ExpectationKind> = Extract<Expectation, { kind: K }>;
