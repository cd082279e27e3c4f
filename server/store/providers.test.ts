import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { openDb } from "@/db/open";
import { emptyDb } from "@/db/testing";
import { redact } from "@/server/secrets/redact";
import { newSealer } from "@/server/secrets/sealer";
import { ProviderStore } from "./providers";

const KEY = "sk-abcdefghijklmnop1234";
const entered = {
  name: "OpenAI",
  base_url: "https://api.openai.com/v1/",
  default_model: "gpt-4o-mini",
  key: KEY,
};

function newStore(env: Record<string, string> = {}) {
  const db = emptyDb();
  return {
    db,
    store: new ProviderStore(db, newSealer(null, {}), env),
    everything: () =>
      JSON.stringify(
        ["providers", "settings"].map((table) => db.$client.prepare(`select * from ${table}`).all()),
      ),
  };
}

test("the demo provider always exists and is the default until another is chosen", () => {
  const { store } = newStore();
  expect(store.list()).toMatchObject([
    { id: "offline", kind: "offline", simulated: true, is_default: true, default_model: "offline-demo" },
  ]);
  expect(store.remove("offline")).toBe(false);
  const { id } = store.save(entered);
  expect(store.findDefault()?.id).toBe("offline");
  expect(store.setDefault(id)).toBe(true);
  expect(store.findDefault()).toMatchObject({ id, base_url: "https://api.openai.com/v1", simulated: false });
  expect(store.setDefault("gone")).toBe(false);
  store.remove(id);
  expect(store.findDefault()?.id).toBe("offline");
});

test("provider keys are stored encrypted, used only for calls, and tied to their address", () => {
  const { store, everything } = newStore();
  const { id } = store.save(entered);
  expect(everything()).not.toContain(KEY);
  expect(JSON.stringify(store.list())).not.toContain(KEY);
  expect(store.find(id)).toMatchObject({ has_key: true, key_hint: "1234" });
  expect(store.keyOf(id)).toBe(KEY);
  store.save({ id, name: "Renamed", base_url: "https://api.openai.com/v1", default_model: "gpt-4o" });
  expect(store.keyOf(id)).toBe(KEY);
  store.save({ id, name: "Renamed", base_url: "https://evil.example/v1", default_model: "gpt-4o" });
  expect([store.keyOf(id), store.find(id)?.has_key]).toEqual([null, false]);
});

test("an encrypted key copied to another row can't be decrypted", () => {
  const { db, store } = newStore();
  const [a, b] = [
    store.save(entered).id,
    store.save({ ...entered, key: null, base_url: "https://evil.example/v1" }).id,
  ];
  db.$client
    .prepare("update providers set secret = (select secret from providers where id = ?) where id = ?")
    .run(a, b);
  expect(() => store.keyOf(b)).toThrow();
});

test("a database upgrade keeps providers, their keys and the default", () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), "troupe-providers-"));
  const migrations = path.join(dir, "migrations");
  const journal = path.join(migrations, "meta", "_journal.json");
  const file = path.join(dir, "troupe.db");
  cpSync(path.resolve("db/migrations"), migrations, { recursive: true });
  const { entries, ...rest } = z
    .looseObject({ entries: z.array(z.looseObject({ tag: z.string() })) })
    .parse(JSON.parse(readFileSync(journal, "utf8")));
  const isBefore = ({ tag }: { tag: string }) => tag < "0018";
  writeFileSync(journal, JSON.stringify({ ...rest, entries: entries.filter(isBefore) }));
  const sealer = newSealer(null, {});
  try {
    vi.stubEnv("TROUPE_MIGRATIONS_DIR", migrations);
    const before = openDb(file);
    const written = new ProviderStore(before, sealer, {});
    const { id } = written.save(entered);
    written.setDefault(id);
    before.$client.exec("update providers set is_default = 1");
    const listed = written.list();
    before.$client.close();

    vi.stubEnv("TROUPE_MIGRATIONS_DIR", undefined);
    const store = new ProviderStore(openDb(file), sealer, {});
    expect(store.list()).toEqual(listed);
    expect([store.findDefault()?.id, store.keyOf(id)]).toEqual([id, KEY]);
  } finally {
    vi.unstubAllEnvs();
    rmSync(dir, { recursive: true, force: true });
  }
});

test("a key can be removed, and a short key has no hint", () => {
  const { store } = newStore();
  const { id } = store.save({ ...entered, key: "short" });
  expect(store.find(id)).toMatchObject({ has_key: true, key_hint: "" });
  store.save({ ...entered, id, key: null });
  expect(store.find(id)).toMatchObject({ has_key: false, key_hint: null });
});

test("the provider from the environment is the default unless one is chosen, and is never stored", () => {
  const { store, everything } = newStore({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "https://llm.example/v1/" });
  expect(store.findDefault()).toMatchObject({
    id: "environment",
    base_url: "https://llm.example/v1",
    from_environment: true,
    has_key: true,
  });
  expect(store.keyOf("environment")).toBe(KEY);
  store.observe("environment", "m", { stream_usage: false });
  expect(store.find("environment")?.settings.capabilities).toEqual({ m: { stream_usage: false } });
  store.setDefault("offline");
  expect(store.findDefault()?.id).toBe("offline");
  expect(everything()).not.toContain(KEY);
  expect(store.remove("environment")).toBe(false);
  expect(newStore({ OPENAI_API_KEY: KEY }).store.findDefault()).toMatchObject({
    base_url: "https://api.openai.com/v1",
    default_model: "gpt-5-mini",
  });
});

test("reported model data is stored per provider and removed when its address changes", () => {
  const { store, everything } = newStore({ OPENAI_API_KEY: KEY });
  const { id } = store.save(entered);
  expect(store.reported(id, "m")).toEqual({});
  store.keepReported(id, {
    m: { context_window: 8192, native_tools: false },
    constructor: { context_window: 1000 },
  });
  expect(store.reported(id, "m")).toEqual({ context_window: 8192, native_tools: false });
  expect(store.reported(id, "toString")).toEqual({});
  store.keepReported(id, { n: { context_window: 4096 } });
  expect([store.reported(id, "m"), store.reported(id, "n")]).toEqual([{}, { context_window: 4096 }]);
  expect(JSON.stringify(store.list())).not.toContain("4096");
  store.save({ ...entered, id, base_url: "https://other.example/v1" });
  expect(store.reported(id, "n")).toEqual({});
  store.remove(id);
  expect(everything()).not.toContain("4096");
  store.keepReported("environment", { m: { context_window: 1000 } });
  expect(store.reported("environment", "m")).toEqual({ context_window: 1000 });
});

test("learned capabilities are kept with the address and can't be set by a client", () => {
  const { store } = newStore();
  const { id } = store.save({
    ...entered,
    settings: { max_concurrency: 2, capabilities: { m: { refuses: ["x"] } } },
  });
  expect(store.find(id)?.settings).toEqual({ max_concurrency: 2 });
  store.observe(id, "m", { response_format: "prompt" });
  store.save({ ...entered, id, settings: { max_concurrency: 3 } });
  expect(store.find(id)?.settings).toEqual({
    max_concurrency: 3,
    capabilities: { m: { response_format: "prompt" } },
  });
  store.save({ ...entered, id, base_url: "https://other.example/v1" });
  expect(store.find(id)?.settings).toEqual({ max_concurrency: 3 });
});

test("custom headers are stored encrypted, tied to their address, and redacted everywhere", () => {
  const db = emptyDb();
  const store = new ProviderStore(db, newSealer(null, {}), {});
  const about = { name: "G", base_url: "https://gate.example/v1", default_model: "m" };
  const { id } = store.save({
    ...about,
    headers: [
      { name: "api-key", value: "CANARY-OF-A-GATEWAY" },
      { name: "X-Team", value: "blue team" },
    ],
  });
  expect(store.find(id)?.header_names).toEqual(["api-key", "X-Team"]);
  expect(store.headersOf(id)).toEqual({ "api-key": "CANARY-OF-A-GATEWAY", "X-Team": "blue team" });
  expect(db.$client.serialize().includes(Buffer.from("CANARY-OF-A-GATEWAY"))).toBe(false);
  expect(redact("it said CANARY-OF-A-GATEWAY")).not.toContain("CANARY");
  // One that is named without a value stays as it is; one that is not named goes.
  store.save({ ...about, id, headers: [{ name: "api-key" }, { name: "X-New", value: "n" }] });
  expect(store.headersOf(id)).toEqual({ "api-key": "CANARY-OF-A-GATEWAY", "X-New": "n" });
  store.save({ ...about, id });
  expect(store.find(id)?.header_names).toEqual(["api-key", "X-New"]);
  store.save({ ...about, id, base_url: "https://elsewhere.example/v1", headers: [{ name: "api-key" }] });
  expect([store.headersOf(id), store.find(id)?.header_names]).toEqual([{}, []]);
});
