import { expect, test } from "vitest";
import type { Db } from "@/db/open";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { newModels } from "@/server/llm/models";
import { newSealer } from "@/server/secrets/sealer";
import { ProviderStore } from "@/server/store/providers";
import { cutAt, newStage, role } from "../testing";

const asks = (task_description_template: string, llm_config: JsonObject = {}) => ({
  node_type: "agent_task",
  config: { required_role: "Worker", task_description_template, llm_config },
  output_keys: ["said"],
});
const GRAPH = draw("start > a > b > end", { a: asks("one"), b: asks("two") });
const SERVICE = { name: "Acme", base_url: "http://127.0.0.1:9/v1", default_model: "m" };

/** A service that answers everything. */
const answering = (async (_url: unknown, init?: { body?: string }) => {
  const { stream } = JSON.parse(init?.body ?? "{}") as { stream?: boolean };
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  const chunk = {
    choices: [{ index: 0, delta: { role: "assistant", content: "done" }, finish_reason: "stop" }],
    usage,
  };
  if (stream)
    return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
      headers: { "content-type": "text/event-stream" },
    });
  const message = { role: "assistant", content: "done" };
  return Response.json({ choices: [{ index: 0, message, finish_reason: "stop" }], usage });
}) as unknown as typeof fetch;

/** A database with a run that has answered its first question, and two of its provider's own settings. */
async function interrupted(): Promise<{ db: Db; id: string; providers: ProviderStore; provider: string }> {
  const whole = newStage();
  const { id } = await whole.run(GRAPH, { roles: [role("Worker")] });
  const db = cutAt(whole, id, 3);
  const providers = new ProviderStore(db, newSealer(null, {}), {});
  const provider = providers.save({
    ...SERVICE,
    key: "sk-0123456789",
    headers: [{ name: "X-Team", value: "abcdef" }],
  }).id;
  providers.setDefault(provider);
  return { db, id, providers, provider };
}

const damages: Record<
  string,
  { damage: string; mend: (store: ProviderStore, id: string) => void; message: RegExp }
> = {
  "a key that can't be decrypted": {
    damage: "update providers set secret = 'AAAA'",
    mend: (store, id) => store.save({ ...SERVICE, id, key: "sk-new" }),
    message:
      /^The saved key or headers of Acme can't be read. Enter them again in Settings. Fix the cause and retry/,
  },
  "headers that are not JSON": {
    damage: "update providers set headers = '{'",
    mend: (store, id) => store.save({ ...SERVICE, id, headers: [{ name: "X-Team", value: "again" }] }),
    message: /Enter them again in Settings/,
  },
  "settings that are not JSON": {
    damage: "update providers set settings = '{\"max_'",
    mend: (store, id) => store.save({ ...SERVICE, id, settings: {} }),
    message: /^The settings of Acme can't be read. Open and save them again in Settings. Fix the cause/,
  },
};

for (const [name, { damage, mend, message }] of Object.entries(damages))
  test(`a run with a damaged provider (${name}) is quarantined, and resumes once it is repaired`, async () => {
    const { db, id, providers, provider } = await interrupted();
    db.$client.prepare(damage).run();
    const stage = newStage({ db, models: newModels({ providers, fetch: answering }) });
    stage.host.recover();
    await stage.host.settled(id);
    const before = stage.store.find(id)!;
    expect([before.status, before.held?.code]).toEqual(["held", "settings_damaged"]);
    expect(before.held!.message).toMatch(message);
    expect(stage.store.events(id).map(({ type }) => type)).not.toContain("llm_call_failed");

    mend(providers, provider);
    expect(stage.host.tryAgain(id)).toBe(true);
    await stage.host.settled(id);
    expect(stage.store.find(id)).toMatchObject({ final_status: "COMPLETED", held: null });
  });

test("a run that can use a fallback model is not quarantined", async () => {
  const { db, providers, provider } = await interrupted();
  const other = providers.save({ ...SERVICE, name: "Other", key: null }).id;
  db.$client.prepare("update providers set settings = '{' where id = ?").run(provider);
  const stage = newStage({ db, models: newModels({ providers, fetch: answering }) });
  const a = asks("one", { fallback_models: [{ provider_id: other, model: "m" }] });
  const { state } = await stage.run(draw("start > a > end", { a }), { roles: [role("Worker")] });
  expect(state.run.final_status).toBe("COMPLETED");
});

test("calls in progress are recorded before the run is quarantined", async () => {
  const { db, providers, provider } = await interrupted();
  const slow = providers.save({ ...SERVICE, name: "Slow", key: null }).id;
  db.$client.prepare("update providers set settings = '{' where id = ?").run(provider);
  const fetchSlowly = (async (...args: Parameters<typeof fetch>) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return answering(...args);
  }) as typeof fetch;
  const stage = newStage({ db, models: newModels({ providers, fetch: fetchSlowly }) });
  const graph = draw("start > w > a > end; start > b > end", {
    a: asks("one"),
    b: asks("two", { provider_id: slow, model: "m" }),
  });
  const { id, events } = await stage.run(graph, { roles: [role("Worker")] });
  expect(stage.store.find(id)!.held?.code).toBe("settings_damaged");
  expect(events.filter(({ type }) => type === "llm_call_completed")).toHaveLength(1);
});
