import { z } from "zod";
import { AgentConfig, Guardrail, LlmConfig, OnLimit } from "@/server/domain/agent/role";
import { Expr, Id, Json, JsonSchema, Ms, StateKey, Template } from "@/server/domain/base/values";
import { CrewConfig } from "@/server/domain/crew/crew";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { OwnRule } from "@/server/domain/tool/own-rule";
import { QuestionTerms } from "@/server/domain/tool/person-question";
import { SecretTemplate } from "@/server/domain/tool/secret-schemas";

/**
 * What the settings of kinds are made of. Each kind is handed it, instead of importing it: a page that draws nodes needs
 * their words and ways, and loads nothing of what reads and checks them.
 */
export const schemaParts = {
  // Named one by one: the whole of zod, with its messages in every language, would come along otherwise.
  z: {
    array: z.array,
    boolean: z.boolean,
    enum: z.enum,
    literal: z.literal,
    number: z.number,
    object: z.object,
    record: z.record,
    strictObject: z.strictObject,
    string: z.string,
    union: z.union,
  },
  Id,
  Json,
  JsonSchema,
  Expr,
  Template,
  Ms,
  StateKey,
  OnLimit,
  AgentConfig,
  Guardrail,
  LlmConfig,
  CrewConfig,
  ExecutionPlan,
  OwnRule,
  QuestionTerms,
  SecretTemplate,
};
export type SchemaParts = typeof schemaParts;
