import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { newSealer } from "@/server/secrets/sealer";
import { newToolSettingStore } from "./tool-settings";

const KEY = "BSA-abcdefghijklmnop9876";
function newStore(isDemo = false) {
  const db = emptyDb();
  return {
    store: newToolSettingStore(db, newSealer(null, {}), () => isDemo),
    everything: () => JSON.stringify(db.$client.prepare("select * from settings").all()),
  };
}
const brave = { purpose: "web", kind: "brave", base_url: "", key: KEY } as const;

test("no search service is configured by default; the offline demo includes one", () => {
  const { store } = newStore();
  expect(store.list()).toMatchObject([
    { purpose: "web", kind: null, has_key: false },
    { purpose: "code", kind: null },
  ]);
  expect(store.backendFor("web")).toBeNull();
  const demo = newStore(true).store;
  expect(demo.list().map(({ kind }) => kind)).toEqual(["demo", "demo"]);
  expect(demo.backendFor("code")).toEqual({ kind: "demo", base_url: "", key: null });
  demo.save({ purpose: "web", kind: "searxng", base_url: "http://localhost:8888/" });
  expect(demo.backendFor("web")).toEqual({ kind: "searxng", base_url: "http://localhost:8888", key: null });
});

test("search keys are stored encrypted, used only for searches, and tied to their service and address", () => {
  const { store, everything } = newStore();
  store.save(brave);
  expect(everything()).not.toContain(KEY);
  expect(JSON.stringify(store.list())).not.toContain(KEY);
  expect(store.list()[0]).toMatchObject({ kind: "brave", has_key: true, key_hint: "9876" });
  const backend = { kind: "brave", base_url: "https://api.search.brave.com", key: KEY };
  expect(store.backendFor("web")).toEqual(backend);
  store.save({ ...brave, key: undefined });
  expect(store.backendFor("web")).toEqual(backend);
  store.save({ ...brave, key: undefined, base_url: "https://evil.example" });
  expect(store.backendFor("web")).toEqual({ kind: "brave", base_url: "https://evil.example", key: null });
  store.save(brave);
  store.save({ purpose: "web", kind: "searxng", base_url: "https://api.search.brave.com" });
  expect(store.backendFor("web")?.key).toBeNull();
  store.save(brave);
  store.save({ ...brave, key: null });
  expect(store.list()[0]).toMatchObject({ has_key: false, key_hint: null });
  expect([store.remove("web"), store.remove("web"), store.backendFor("web")]).toEqual([true, false, null]);
});
