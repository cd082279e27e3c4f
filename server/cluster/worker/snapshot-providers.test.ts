import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { providers as table } from "@/db/schema";
import { newModels } from "@/server/llm/models";
import { withoutHeld } from "@/server/secrets/redact";
import { newSealer } from "@/server/secrets/sealer";
import { type ControlSide, newControlSide, SECRET_KEY } from "../testing";
import type { LearnBody } from "../worker-protocol";
import { newSnapshotProviders } from "./snapshot-providers";

let side: ControlSide;
let id: string;
beforeEach(async () => {
  side = newControlSide();
  await side.start();
  id = side.providers.save({
    name: "Acme",
    base_url: "http://127.0.0.1:9/v1",
    default_model: "acme-1",
    key: "an acme key of some length",
    headers: [{ name: "x-tenant", value: "tenant-nr-one" }],
    settings: { max_concurrency: 2 },
  }).id;
  side.providers.setDefault(id);
  side.providers.keepReported(id, { "acme-1": { context_window: 5_000 } });
});
afterEach(() => side.stop());

const learned: LearnBody[] = [];
async function atWorker(key = SECRET_KEY) {
  const providers = newSnapshotProviders(newSealer(null, { TROUPE_SECRET_KEY: key }), (lesson) => {
    learned.push(lesson);
    void side.client().learn(lesson);
  });
  providers.replace(await side.client().providers());
  return providers;
}

describe("providers on a worker", () => {
  test("a worker has the server's providers and decrypts them with the same key", async () => {
    const providers = await atWorker();
    expect(providers.list()).toEqual(side.providers.list());
    expect(providers.findDefault()).toEqual(side.providers.find(id));
    expect([providers.keyOf(id), providers.headersOf(id), providers.reported(id, "acme-1")]).toEqual([
      "an acme key of some length",
      { "x-tenant": "tenant-nr-one" },
      { context_window: 5_000 },
    ]);
    expect(providers.reported(id, "constructor")).toEqual({});
    expect(providers.version).toBe(side.snapshots.version());
  });

  test("the snapshot of providers contains no readable secret", async () => {
    const text = JSON.stringify(await side.client().providers());
    expect(text).not.toContain("acme key of");
    expect(text).not.toContain("tenant-nr-one");
  });

  test("provider keys are redacted on a worker before their first use", async () => {
    side.providers.save({
      name: "Other",
      base_url: "http://127.0.0.1:9/v2",
      default_model: "o",
      key: "another key",
    });
    await atWorker();
    expect(withoutHeld("say another key")).toBe("say [hidden]");
  });

  test("a worker rejects providers that were encrypted with another key", async () => {
    await expect(atWorker(randomBytes(32).toString("base64"))).rejects.toThrow(
      "This worker can't decrypt the server's keys: set TROUPE_SECRET_KEY to the same value as on the server.",
    );
  });

  test("every change to a provider changes the snapshot's version", async () => {
    const versions = [side.snapshots.version()];
    side.providers.observe(id, "acme-1", { native_tools: false });
    versions.push(side.snapshots.version());
    side.providers.keepReported(id, {});
    versions.push(side.snapshots.version());
    side.providers.setDefault("offline");
    versions.push(side.snapshots.version(), side.snapshots.version());
    expect(new Set(versions).size).toBe(4);
  });

  test("model capabilities that a worker finds are stored on the server", async () => {
    const providers = await atWorker();
    providers.observe(id, "acme-1", { native_tools: false });
    expect(providers.find(id)?.settings.capabilities).toEqual({ "acme-1": { native_tools: false } });
    for (;;) {
      const { capabilities } = side.providers.find(id)?.settings ?? {};
      if (!capabilities) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        continue;
      }
      expect(capabilities).toEqual({ "acme-1": { native_tools: false } });
      break;
    }
  });

  test.each([
    [
      "settings",
      { settings: "{" },
      "The settings of Acme can't be read. Open and save them again in Settings.",
    ],
    [
      "key",
      { secret: "AQID" },
      "The saved key or headers of Acme can't be read. Enter them again in Settings.",
    ],
    [
      "headers",
      { headers: "no" },
      "The saved key or headers of Acme can't be read. Enter them again in Settings.",
    ],
  ])("a provider with damaged %s on the server also fails on a worker", async (_what, change, message) => {
    side.db.update(table).set(change).where(eq(table.id, id)).run();
    const models = newModels({ providers: await atWorker() });
    const call = models.complete(
      { run_id: "r", call_id: "c", llm_config: {}, messages: [{ role: "user", content: "Hi" }], tools: [] },
      { signal: new AbortController().signal, delta: () => {} },
    );
    await expect(call).rejects.toMatchObject({ message, more: { isDamage: true } });
  });
});
