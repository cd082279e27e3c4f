import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { errorMessage } from "@/server/domain/base/guards";
import { Json } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { findInputErrors } from "@/server/domain/graph/input-check";
import { inputFields } from "@/server/domain/graph/run-input";
import { deliveredInput } from "@/server/domain/trigger/trigger-input";
import { LIMITS } from "@/server/limits";
import type { HostLog } from "@/server/runner/lifecycle/host-log";
import type { StoredTriggerOf, TriggerStore } from "@/server/store/triggers/triggers";
import type { FireOutcome, TriggerHost } from "./trigger-host";

type WebhookTrigger = StoredTriggerOf<"webhook">;

/** A request to a webhook. */
export interface HookRequest {
  /** The key in its address. */
  key: string;
  headers: Headers;
  query: URLSearchParams;
  body: string;
}

interface Parts {
  host: TriggerHost;
  store: TriggerStore;
  /** The graph that a workflow's triggers run; undefined if it was deleted. */
  graphOf(workflowId: string): WorkflowGraph | undefined;
  now?: () => number;
  log?: HostLog;
}

/** Headers with the ID of a delivery, by precedence. */
const ID_HEADERS = ["webhook-id", "idempotency-key", "x-github-delivery"];

/** Accepts deliveries to webhooks. */
export function newWebhooks({ host, store, graphOf, now = Date.now, log }: Parts) {
  /** Fails closed: refuses deliveries that can't be verified. */
  const verify = (trigger: WebhookTrigger, { headers, body }: HookRequest) => {
    const { signature, tolerance_s } = trigger.config;
    if (signature === "none") return;
    const secrets = secretsOf(trigger);
    const isValid =
      signature === "github"
        ? secrets.some((secret) => isSame(headers.get("x-hub-signature-256"), githubSignature(secret, body)))
        : isStandard(secrets, headers, body, { now: now(), tolerance_s });
    if (!isValid) throw badSignature("The signature is missing, wrong or too old.");
  };
  const secretsOf = ({ id }: WebhookTrigger): string[] => {
    try {
      return store.secretsOf(id);
    } catch (error) {
      log?.("error", "The secret of a webhook can't be read.", { trigger: id, error: errorMessage(error) });
      return [];
    }
  };

  /** The fire of an earlier delivery that this one repeats. Throws Rejection if the body differs. */
  const repeated = ({ id, config }: WebhookTrigger, key: string | null, body_hash: string) => {
    const known = key === null ? undefined : store.fire(id, key);
    if (known && known.body_hash !== body_hash) {
      const message = "This delivery ID was already used with a different body.";
      throw config.signature === "none" ? new Rejection("key_reused", message) : badSignature(message);
    }
    // GitHub signs only the body, so the same body with another ID is the same delivery.
    return known ?? (config.signature === "github" ? store.fireOfBody(id, body_hash) : undefined);
  };

  const accept = (trigger: WebhookTrigger, graph: WorkflowGraph, request: HookRequest): FireOutcome => {
    const key = deliveryId(request.headers);
    const body_hash = createHash("sha256").update(request.body).digest("hex");
    const known = repeated(trigger, key, body_hash);
    if (known) return host.startFire(trigger, known.key);
    const at = now();
    const delivery = {
      body: bodyOf(request),
      headers: Object.fromEntries(request.headers),
      query: Object.fromEntries(request.query),
    };
    const fields = inputFields(graph).map((field) => field.key);
    const mapped = deliveredInput(trigger.config, fields, delivery, at);
    const errors = "errors" in mapped ? mapped.errors : findInputErrors(graph, mapped.input);
    if ("errors" in mapped || errors.length > 0)
      throw new Rejection("invalid_input", "The input is invalid.", { errors });
    if (store.countFires(trigger.id, "pending") >= LIMITS.hooks.pending)
      throw new Rejection("queue_full", "Too many deliveries are waiting for their runs. Try again later.");
    return host.fire(trigger, {
      ...{ key: key ?? randomUUID(), planned_at: at, input: mapped.input, body_hash },
    });
  };

  return {
    /** Starts the run of a delivery, or finds the one that it already started. Throws Rejection. */
    receive(request: HookRequest): { trigger: WebhookTrigger; outcome: FireOutcome } {
      const trigger = store.withKey(request.key);
      const graph = trigger?.enabled ? graphOf(trigger.workflow_id) : undefined;
      if (trigger?.kind !== "webhook" || !graph) throw new Rejection("not_found", "No such webhook.");
      verify(trigger, request);
      return { trigger, outcome: accept(trigger, graph, request) };
    },
  };
}

const badSignature = (message: string) => new Rejection("bad_signature", message);

function deliveryId(headers: Headers): string | null {
  const id = ID_HEADERS.map((name) => headers.get(name)).find((value) => value !== null) ?? null;
  if (id !== null && (id === "" || id.length > LIMITS.idempotencyKey))
    throw new Rejection("bad_request", `A delivery ID must have 1 to ${LIMITS.idempotencyKey} characters.`);
  return id;
}

function isStandard(
  secrets: readonly string[],
  headers: Headers,
  body: string,
  { now, tolerance_s }: { now: number; tolerance_s: number },
): boolean {
  const [id, seconds, given] = ["id", "timestamp", "signature"].map((part) => headers.get(`webhook-${part}`));
  if (!id || !seconds || !given || !/^\d{1,12}$/.test(seconds)) return false;
  if (Math.abs(now / 1000 - Number(seconds)) > tolerance_s) return false;
  const signatures = given.split(" ").slice(0, 20);
  return secrets.some((secret) => {
    // Only signs with the package, because its verification has a fixed tolerance.
    const expected = new Webhook(secret).sign(id, new Date(Number(seconds) * 1000), body);
    return signatures.some((signature) => isSame(signature, expected));
  });
}

const githubSignature = (secret: string, body: string) =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

/** Compares in constant time. */
export function isSame(given: string | null, expected: string): boolean {
  if (given === null) return false;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Why a secret can't verify signatures; null if it can. */
export function secretProblem(signature: string, secret: string): string | null {
  if (signature !== "standard") return secret.length < 16 ? "Use a secret of at least 16 characters." : null;
  try {
    new Webhook(secret);
    return secret.length < 32 ? "Use a secret of at least 24 bytes." : null;
  } catch {
    return "Enter the secret as whsec_ and base64.";
  }
}

/** The body of a delivery, parsed by its content type. Throws Rejection. */
function bodyOf({ headers, body }: HookRequest): Json {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (body === "") return null;
  if (type.startsWith("text/")) return body;
  if (type === "application/x-www-form-urlencoded") return formOf(new URLSearchParams(body));
  try {
    return Json.parse(JSON.parse(body));
  } catch (error) {
    throw new Rejection("bad_json", `Invalid JSON: ${errorMessage(error)}`);
  }
}

/** A name that occurs several times becomes a list. */
function formOf(form: URLSearchParams): Json {
  if (form.size > LIMITS.hooks.fields)
    throw new Rejection("bad_request", `A form can have at most ${LIMITS.hooks.fields} fields.`);
  return Object.fromEntries(
    [...new Set(form.keys())].map((name) => {
      const [first = "", ...others] = form.getAll(name);
      return [name, others.length > 0 ? [first, ...others] : first];
    }),
  );
}
