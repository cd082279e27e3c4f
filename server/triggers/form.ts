import { createHash, createHmac } from "node:crypto";
import { isPassword } from "@/server/access/password";
import type { JsonObject } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findInputErrors } from "@/server/domain/graph/input-check";
import { inputFields } from "@/server/domain/graph/run-input";
import { LIMITS } from "@/server/limits";
import type { Visitor } from "@/server/store/triggers/fires";
import type { StoredTrigger, StoredTriggerOf, TriggerStore } from "@/server/store/triggers/triggers";
import type { FireOutcome } from "./trigger-host";
import type { Triggers } from "./triggers";
import { isSame } from "./webhook";

export interface FormParts {
  triggers: Pick<Triggers, "fire" | "graphOf">;
  triggerStore: TriggerStore;
}

/** An enabled form, and the graph with its inputs. */
export interface OpenForm {
  trigger: StoredTriggerOf<"form">;
  graph: WorkflowGraph;
}

interface Answers extends Visitor {
  /** The same for every attempt to send these answers. */
  id: string;
  input: JsonObject;
}

const HOUR_MS = 3_600_000;

/** Throws not_found, also for a disabled form. */
export function openForm({ triggers, triggerStore }: FormParts, key: string): OpenForm {
  const trigger = triggerStore.withKey(key);
  const graph = trigger?.enabled ? triggers.graphOf(trigger.workflow_id) : undefined;
  if (trigger?.kind !== "form" || !graph) throw new Rejection("not_found", "No such form.");
  return { trigger, graph };
}

/** Proof that a visitor entered the password; a new password invalidates it. Null: the form has none. */
function passFor({ triggerStore }: FormParts, { id, has_secret }: StoredTrigger): string | null {
  if (!has_secret) return null;
  const [hash = ""] = triggerStore.secretsOf(id);
  return createHmac("sha256", hash).update(`form:${id}`).digest("base64url");
}

/** Whether a form has no password, or this is the pass for it. */
export function mayEnter(parts: FormParts, { trigger }: OpenForm, given: string | null): boolean {
  const pass = passFor(parts, trigger);
  return pass === null || isSame(given, pass);
}

/** The pass for a password. Throws wrong_password. */
export async function unlockForm(parts: FormParts, { trigger }: OpenForm, password: string): Promise<string> {
  const [hash = ""] = parts.triggerStore.secretsOf(trigger.id);
  const pass = passFor(parts, trigger);
  if (pass === null || !(await isPassword(password, hash)))
    throw new Rejection("wrong_password", "Wrong password.");
  return pass;
}

/** Starts a run with the answers, or finds the one that they already started. Throws Rejection. */
export function submitForm(
  { triggers, triggerStore }: FormParts,
  { trigger, graph }: OpenForm,
  { id: key, input, visitor, address }: Answers,
): FireOutcome {
  const at = Date.now();
  const body_hash = createHash("sha256").update(JSON.stringify(input)).digest("hex");
  const known = triggerStore.fire(trigger.id, key);
  if (known && known.body_hash !== body_hash)
    throw new Rejection("key_reused", "This ID was already used for other answers.");
  if (!known) {
    checkLimits(triggerStore, trigger, { visitor, address }, at);
    const known = new Set(inputFields(graph).map((field) => field.key));
    const errors = Object.keys(input)
      .filter((name) => !known.has(name))
      .map((name) => ({ key: name, message: "The form has no such field." }));
    errors.push(...findInputErrors(graph, input));
    if (errors.length > 0) throw new Rejection("invalid_input", "Check the fields.", { errors });
    if (triggerStore.countFires(trigger.id, "pending") >= LIMITS.hooks.pending)
      throw new Rejection("queue_full", "Too many answers are waiting to be processed. Try again later.");
  }
  return triggers.fire(trigger, { key, planned_at: at, input, body_hash, visitor, address });
}

function checkLimits(
  store: TriggerStore,
  { id, config }: OpenForm["trigger"],
  visitor: Visitor,
  now: number,
): void {
  const { runs_per_hour, max_cost_usd_per_day: maxCost } = config;
  if (store.startedBy(id, visitor, now - HOUR_MS).runs >= runs_per_hour)
    throw new Rejection("visitor_limit", "You have reached this form's hourly limit. Try again later.");
  if (maxCost !== null && store.startedBy(id, visitor, now - 24 * HOUR_MS).cost_usd >= maxCost)
    throw new Rejection("visitor_limit", "You have reached this form's daily limit. Try again tomorrow.");
}
