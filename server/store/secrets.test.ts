import { expect, test } from "vitest";
import { openDb } from "@/db/open";
import { runs, secrets } from "@/db/schema";
import { emptyDb } from "@/db/testing";
import { redact } from "@/server/secrets/redact";
import { newSealer } from "@/server/secrets/sealer";
import { newSecretStore } from "./secrets";

const VALUE = "value-of-a-stored-secret";

function newStore(db = emptyDb(), key = 1) {
  const env = { TROUPE_SECRET_KEY: Buffer.alloc(32, key).toString("base64") };
  return newSecretStore(db, newSealer(null, env));
}
const about = (workflow_id: string | null, host = "a.example", id = "run_1") => ({
  host,
  run: { id, workflow_id },
});

test("a value is encrypted with its name: in another row, it can't be decrypted", () => {
  const db = emptyDb();
  const store = newStore(db);
  expect(store.create({ name: "A", value: VALUE, hosts: ["a.example"], workflows: null })).toBe(true);
  store.create({ name: "B", value: "another-value-of-it", hosts: ["b.example"], workflows: null });
  const [a] = db.select().from(secrets).all();
  expect(JSON.stringify(a)).not.toContain(VALUE);
  db.update(secrets).set({ value: a!.value }).run();
  expect(store.open("A", about("wf_1"))).toEqual({ value: VALUE });
  expect(store.open("B", about("wf_1", "b.example"))).toEqual({
    error: "The secret B can't be decrypted. Enter its value again in Settings.",
  });
});

test("a secret is opened for its hosts and workflows only", () => {
  const store = newStore();
  store.create({ name: "A", value: VALUE, hosts: ["a.example"], workflows: ["wf_1"] });
  expect(store.open("A", about("wf_1"))).toEqual({ value: VALUE });
  expect(store.open("A", about("wf_2"))).toHaveProperty("error");
  expect(store.open("A", { host: "a.example", run: null })).toHaveProperty("error");
  expect(store.open("A", about("wf_1", "b.example"))).toEqual({
    error: "The secret A may only be sent to a.example, not to b.example.",
  });
  expect(store.open("C", about("wf_1"))).toEqual({ error: "There is no secret C. Add it in Settings." });
});

test("a part of a workflow that runs by itself has the secrets of its workflow", () => {
  const db = emptyDb();
  const store = newStore(db);
  store.create({ name: "A", value: VALUE, hosts: ["a.example"], workflows: ["wf_1"] });
  const run = {
    workflowName: "W",
    status: "running",
    interpreterVersion: 1,
    trigger: "api",
    createdAt: 0,
  } as const;
  db.insert(runs)
    .values([
      { ...run, id: "run_1", workflowId: "wf_1" },
      { ...run, id: "run_2", workflowId: null, parentRun: "run_1" },
      { ...run, id: "run_3", workflowId: null, parentRun: "run_2" },
    ])
    .run();
  expect(store.open("A", about(null, "a.example", "run_3"))).toEqual({ value: VALUE });
  expect(store.open("A", about(null, "a.example", "run_9"))).toHaveProperty("error");
});

test("stored values are redacted from the start", () => {
  const db = openDb(":memory:");
  newStore(db).create({ name: "A", value: VALUE, hosts: ["a.example"], workflows: null });
  newStore(db, 2).load();
  newStore(db).load();
  expect(redact(`it is ${VALUE}`)).toBe("it is [hidden]");
});
