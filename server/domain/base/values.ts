import { z } from "zod";
import { isReserved, STATE_KEY } from "./names";

/** An identifier in a workflow file: nodes, edges, agents, tasks. */
export const Id = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, "Use letters, digits, _ . - and start with a letter (at most 64)")
  .refine((id) => !isReserved(id), "This name is reserved");
export type Id = z.infer<typeof Id>;

/** A key of the run's state. */
export const StateKey = z
  .string()
  .regex(STATE_KEY, "Use letters, digits and _ (at most 64), no spaces")
  .refine((key) => !isReserved(key), "This name is reserved");

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export const Json: z.ZodType<Json> = z.json();
export type JsonObject = { [key: string]: Json };
export const JsonObject: z.ZodType<JsonObject> = z.record(z.string(), Json);

/**
 * JSON Schema, draft 2020-12 or an older one; server/domain/schema checks by it. What it is read from is JSON already:
 * nothing further in it is looked at.
 */
export const JsonSchema: z.ZodType<JsonObject, JsonObject> = z.record(z.string(), z.any());
export type JsonSchema = JsonObject;

/**
 * A CEL expression; see expression.ts. Its length is for the check of the drawing to judge, which makes an error of it:
 * a schema that refuses it would have it left out of a file, and an edge without its condition is always taken.
 */
export const Expr = z.string();

/** A text with values in {{ }}; see template.ts. As with an expression, the check of the drawing judges its length. */
export const Template = z.string();

/** A duration in whole milliseconds. */
export const Ms = z.number().int().nonnegative();

/** A value, or a sentence with what is wrong. */
export type Result<T> = { value: T } | { error: string };
