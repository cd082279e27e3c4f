import { randomUUID } from "node:crypto";
import { z } from "zod";
import { hashPassword } from "@/server/access/password";
import { auditName } from "@/server/access/principal";
import { defined } from "@/server/domain/base/defined";
import { isSameJson } from "@/server/domain/base/json";
import { Json, StateKey } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import { inputFields } from "@/server/domain/graph/run-input";
import { isTrustedKey } from "@/server/domain/run/started-by";
import { nextOnSave } from "@/server/domain/trigger/schedule";
import {
  closesLoop,
  TRIGGER_KINDS,
  type TriggerKind,
  TriggerSettings,
} from "@/server/domain/trigger/trigger";
import { suggestedInput } from "@/server/domain/trigger/trigger-input";
import { LIMITS } from "@/server/limits";
import { originOf, readSettings } from "@/server/settings";
import { newTriggerKey } from "@/server/store/triggers/trigger-secrets";
import type { StoredTrigger } from "@/server/store/triggers/triggers";
import { type FireOutcome, startedBy } from "@/server/triggers/trigger-host";
import { secretProblem } from "@/server/triggers/webhook";
import { type Caller, onlyPerson, onlyTrusted, operationsOf } from "../operation";
import { notFound } from "../rejections";
import type { Services } from "../services";
import { workflowOf } from "../workflows/stored-workflow";
import { DisabledTrigger, Trigger, TriggerCreated, TriggerFire } from "./trigger-schemas";

const { mutation, query } = operationsOf("Triggers");

const ByWorkflow = z.object({ workflow_id: z.string() });
const ByTrigger = z.object({ trigger_id: z.string() });
/** Maps the parameter of terminal commands. */
export const namesTrigger = { fields: { trigger: "trigger_id" } };
const Config = z.record(z.string(), Json).meta({ description: "The settings of its kind" });
const Secrets = z.array(z.string().min(1).max(500)).max(10).meta({
  description: "Signing secrets of a webhook; several during rotation. Write-only",
});
const Password = z.string().min(1).max(LIMITS.forms.passwordLength).nullable().meta({
  description: "Password of a form; null removes it. Write-only",
});

type Parts = Pick<Services, "triggerStore" | "workflows">;

/** Throws not_found. */
export function triggerOf({ triggerStore }: Parts, id: string): StoredTrigger {
  const trigger = triggerStore.find(id);
  if (!trigger) throw notFound("trigger");
  return trigger;
}

/** Triggers of workflows. */
export const triggerOperations = {
  list: query({
    name: "listTriggers",
    summary: "List a workflow's triggers",
    needs: "read",
    input: ByWorkflow,
    output: z.array(Trigger),
    problems: ["not_found"],
    http: { route: "GET /workflows/{id}/triggers", success: "The triggers, oldest first", as: "triggers" },
    cli: [{ form: "triggers WORKFLOW", fields: { workflow: "workflow_id" } }],
    run(services, { workflow_id }) {
      workflowOf(services, workflow_id);
      return services.triggerStore.ofWorkflow(workflow_id).map((one) => shown(services, one));
    },
  }),

  disabled: query({
    name: "listDisabledTriggers",
    summary: "List triggers that keep failing",
    about:
      "After 10 failed fires in a row, a trigger is disabled. A webhook or form is disabled only if its runs could not start; if they failed, it stays enabled, so that its senders can't disable it. Enabling a trigger again removes it from the list.",
    needs: "read",
    input: z.void(),
    output: z.array(DisabledTrigger),
    problems: [],
    http: { route: "GET /triggers/disabled", success: "The triggers, newest first", as: "triggers" },
    run: (services) =>
      services.triggerStore
        .disabled()
        .map(({ workflow_name, ...one }) => ({ ...shown(services, one), workflow_name })),
  }),

  create: mutation({
    name: "createTrigger",
    summary: "Create a trigger",
    about: "The key and the address of a webhook are returned once.",
    needs: "author",
    input: ByWorkflow.extend({
      kind: z.enum(TRIGGER_KINDS),
      config: Config.default({}),
      enabled: z.boolean().default(true),
      secrets: Secrets.optional(),
      password: Password.optional(),
    }).strict(),
    output: TriggerCreated,
    problems: ["bad_request", "not_found", "person_only", "trigger_loop"],
    audits: ["trigger_added", "trigger_secrets_changed"],
    http: { route: "POST /workflows/{id}/triggers", status: 201, success: "Created" },
    async run(services, { workflow_id, kind, config, enabled, secrets, password }, caller) {
      const { triggerStore } = services;
      const hash = await passwordHash(kind, password);
      workflowOf(services, workflow_id);
      const settings = settingsOf(kind, config);
      checkSettings(services, { workflow_id, settings }, caller);
      checkSecrets(settings, secrets);
      const key = ADDRESSES[kind] === undefined ? undefined : newTriggerKey();
      const by = auditName(caller.principal);
      const next_at = nextAt(settings, enabled);
      const given = secrets ?? hash;
      const trigger = triggerStore.create(workflow_id, settings, {
        by,
        enabled,
        next_at,
        key,
        secrets: given,
      });
      caller.note("trigger_added", aboutOf(trigger));
      noteSecrets(trigger, given, caller);
      services.triggers.changed();
      const url = key === undefined ? null : urlOf(kind, key);
      return { ...shown(services, trigger), key: key ?? null, url };
    },
  }),

  save: mutation({
    name: "updateTrigger",
    summary: "Change, enable or disable a trigger",
    about: "Omitted parts stay unchanged. Changing the kind of signature removes the secrets.",
    needs: "author",
    input: ByTrigger.extend({
      config: Config.optional(),
      enabled: z.boolean().optional(),
      secrets: Secrets.optional(),
      password: Password.optional(),
    }).strict(),
    output: Trigger,
    problems: ["bad_request", "not_found", "person_only", "trigger_loop"],
    audits: ["trigger_changed", "trigger_secrets_changed"],
    http: { route: "PUT /triggers/{id}", success: "The changed trigger" },
    cli: [
      { form: "trigger on TRIGGER", summary: "Enable a trigger", ...namesTrigger, preset: { enabled: true } },
      {
        form: "trigger off TRIGGER",
        summary: "Disable a trigger",
        ...namesTrigger,
        preset: { enabled: false },
      },
    ],
    async run(services, { trigger_id, config, enabled, secrets, password }, caller) {
      const hash = await passwordHash(triggerOf(services, trigger_id).kind, password);
      const before = triggerOf(services, trigger_id);
      const settings = config ? settingsOf(before.kind, config) : before;
      if (config) checkSettings(services, { ...before, settings }, caller, before);
      if (secrets || hash) onlyOwner(before, caller);
      checkSecrets(settings, secrets);
      const isSigned = (one: TriggerSettings) => one.kind === "webhook" && one.config.signature;
      const isOtherSignature = isSigned(settings) !== isSigned(before);
      const given = secrets ?? hash ?? (isOtherSignature && before.has_secret ? [] : undefined);
      const trigger = services.triggerStore.save(trigger_id, {
        config: config && settings.config,
        enabled,
        secrets: given,
        by: auditName(caller.principal),
        next_at:
          config || enabled !== undefined ? nextAt(settings, enabled ?? before.enabled, before) : undefined,
      });
      if (!trigger) throw notFound("trigger");
      caller.note("trigger_changed", { ...aboutOf(trigger), ...defined({ is_enabled: enabled }) });
      noteSecrets(trigger, given, caller);
      services.triggers.changed();
      return shown(services, trigger);
    },
  }),

  replaceKey: mutation({
    name: "replaceTriggerKey",
    summary: "Replace the address of a webhook or form",
    about: "The old address stops working immediately.",
    needs: "author",
    input: ByTrigger,
    output: z.object({ key: z.string(), url: z.string() }),
    problems: ["not_found", "not_now", "person_only"],
    audits: ["trigger_key_replaced"],
    http: { route: "POST /triggers/{id}/key", success: "The new key, which is shown once" },
    run(services, { trigger_id }, caller) {
      const trigger = triggerOf(services, trigger_id);
      onlyOwner(trigger, caller);
      const { kind } = trigger;
      if (ADDRESSES[kind] === undefined)
        throw new Rejection("not_now", "This kind of trigger has no address.");
      const key = newTriggerKey();
      services.triggerStore.setKey(trigger_id, kind, key);
      caller.note("trigger_key_replaced", aboutOf(trigger));
      return { key, url: urlOf(kind, key) };
    },
  }),

  remove: mutation({
    name: "deleteTrigger",
    summary: "Delete a trigger and its history",
    about: "Its runs stay.",
    needs: "author",
    input: ByTrigger,
    problems: ["not_found"],
    audits: ["trigger_removed"],
    http: { route: "DELETE /triggers/{id}", success: "Deleted" },
    run(services, { trigger_id }, { note }) {
      const trigger = triggerOf(services, trigger_id);
      services.triggerStore.remove(trigger_id);
      note("trigger_removed", aboutOf(trigger));
      services.triggers.changed();
    },
  }),

  test: mutation({
    name: "testTrigger",
    summary: "Start a run as the trigger would",
    about:
      "The input is as untrusted as that of the trigger. By default, a schedule uses its own input, other triggers the examples of the input schema. The run's `trigger` is `test`.",
    needs: "run",
    input: ByTrigger.extend({ input: z.record(StateKey, Json).optional() }).strict(),
    output: z.object({ run_id: z.string().nullable() }),
    problems: ["not_found", "person_only", "invalid_input", "workflow_has_problems"],
    http: {
      route: "POST /triggers/{id}/test",
      status: 202,
      success: "Started; `run_id` is null while queued",
    },
    cli: [{ form: "trigger test TRIGGER", ...namesTrigger }],
    run(services, { trigger_id, input }, { principal }) {
      const trigger = triggerOf(services, trigger_id);
      if (Object.keys(input ?? {}).some((key) => isTrustedKey(startedBy(trigger), key)))
        onlyTrusted(principal, "These inputs count as a person's own words");
      const graph = services.triggers.graphOf(trigger.workflow_id);
      if (!graph) throw notFound("workflow");
      const planned = trigger.kind === "schedule" ? trigger.config.input : undefined;
      return runOf(
        services.triggers.fire(trigger, {
          ...{ key: `test:${randomUUID()}`, planned_at: Date.now(), is_test: true },
          input: input ?? planned ?? suggestedInput(inputFields(graph)),
        }),
      );
    },
  }),

  fires: query({
    name: "listTriggerFires",
    summary: "List the fires of a trigger, newest first",
    about: "The last 1,000 fires, for up to 30 days.",
    needs: "read",
    input: ByTrigger,
    output: z.array(TriggerFire),
    problems: ["not_found"],
    http: {
      route: "GET /triggers/{id}/fires",
      success: "A page of fires",
      as: "fires",
      page: ({ planned_at, key }: z.output<typeof TriggerFire>) => [planned_at, key],
    },
    cli: [{ form: "trigger history TRIGGER", ...namesTrigger }],
    run(services, { trigger_id }) {
      triggerOf(services, trigger_id);
      return services.triggerStore.fires(trigger_id);
    },
  }),

  retry: mutation({
    name: "retryTriggerFire",
    summary: "Start the run of a failed or missed fire",
    needs: "run",
    input: ByTrigger.extend({ key: z.string() }),
    output: z.object({ run_id: z.string().nullable() }),
    problems: ["not_found", "not_now", "invalid_input", "workflow_has_problems"],
    http: {
      route: "POST /triggers/{id}/fires/{key}/retry",
      status: 202,
      success: "Started; `run_id` is null while queued",
    },
    run: (services, { trigger_id, key }) =>
      runOf(services.triggers.retry(triggerOf(services, trigger_id), key)),
  }),
};

/** First path segment of a trigger's address, by kind. */
const ADDRESSES: Partial<Record<TriggerKind, string>> = { webhook: "hooks", form: "p" };
const urlOf = (kind: TriggerKind, key: string) => `${originOf(readSettings())}/${ADDRESSES[kind]}/${key}`;

function shown({ triggerStore }: Parts, trigger: StoredTrigger): z.input<typeof Trigger> {
  const { by: _by, ...rest } = trigger;
  const key = trigger.kind === "form" ? triggerStore.keyOf(trigger.id) : null;
  return {
    ...rest,
    has_secret: trigger.kind !== "form" && trigger.has_secret,
    has_password: trigger.kind === "form" && trigger.has_secret,
    config: { ...trigger.config },
    url: key && urlOf("form", key),
  };
}

const aboutOf = ({ id, kind, workflow_id }: StoredTrigger) => ({ trigger: id, kind, workflow_id });

/** Throws bad_request. */
function settingsOf(kind: TriggerKind, config: Readonly<Record<string, Json>>): TriggerSettings {
  const read = TriggerSettings.safeParse({ kind, config });
  if (read.success) return read.data;
  const issues = read.error.issues.map(({ path, message }) => ({ at: path.join("."), message }));
  throw new Rejection("bad_request", `Invalid trigger (${issues[0]?.at}): ${issues[0]?.message}`, { issues });
}

/** Who may send trusted inputs is decided by people. Throws person_only. */
function onlyOwner({ config }: TriggerSettings, { principal }: Caller): void {
  if ("trusted_keys" in config && config.trusted_keys?.length)
    onlyPerson(principal, "trusted inputs count as a person's own words");
}

function checkSettings(
  services: Parts,
  { id, workflow_id, settings }: { id?: string; workflow_id: string; settings: TriggerSettings },
  caller: Caller,
  before?: TriggerSettings,
): void {
  const { kind, config } = settings;
  if (!isSameJson(config, before?.config ?? null)) onlyOwner(settings, caller);
  if (kind !== "workflow") return;
  workflowOf(services, settings.config.workflow_id);
  const links = services.triggerStore
    .ofKind("workflow")
    .filter((other) => other.id !== id)
    .map((other) => ({ after: other.config.workflow_id, starts: other.workflow_id }));
  if (closesLoop(links, { after: settings.config.workflow_id, starts: workflow_id }))
    throw new Rejection("trigger_loop", "The workflow would start itself again. Choose another workflow.");
}

/** When a schedule fires next. */
function nextAt(settings: TriggerSettings, enabled: boolean, before?: StoredTrigger): number | null {
  if (settings.kind !== "schedule" || !enabled) return null;
  const known = before?.kind === "schedule" && before.enabled ? before : undefined;
  return nextOnSave(settings.config, Date.now(), known);
}

/** Throws bad_request. */
function checkSecrets(settings: TriggerSettings, secrets: readonly string[] = []): void {
  if (secrets.length === 0) return;
  const signature = settings.kind === "webhook" ? settings.config.signature : "none";
  if (signature === "none")
    throw new Rejection("bad_request", "Only a webhook with a signature has secrets.");
  const problem = secrets.map((one) => secretProblem(signature, one)).find((one) => one !== null);
  if (problem) throw new Rejection("bad_request", problem);
}

/** The hash of a form's password, stored like secrets. Throws bad_request. */
async function passwordHash(
  kind: TriggerKind,
  password: string | null | undefined,
): Promise<string[] | undefined> {
  if (password === undefined) return undefined;
  if (kind !== "form") throw new Rejection("bad_request", "Only a form has a password.");
  return password === null ? [] : [await hashPassword(password)];
}

function noteSecrets(trigger: StoredTrigger, secrets: readonly string[] | undefined, { note }: Caller): void {
  if (secrets) note("trigger_secrets_changed", { ...aboutOf(trigger), count: secrets.length });
}

/** Throws the reason if it did not start. */
function runOf(outcome: FireOutcome): { run_id: string | null } {
  if (outcome.status === "failed") throw outcome.error;
  return { run_id: outcome.status === "started" ? outcome.run_id : null };
}
