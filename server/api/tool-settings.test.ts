import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { newSealer } from "@/server/secrets/sealer";
import { newServices } from "@/server/services";
import { newToolSettingStore } from "@/server/store/library/tool-settings";
import { appRouter } from "./root";

function newCaller(principal: { kind: "session"; id: string } | null = { kind: "session", id: "ses_1" }) {
  const db = emptyDb();
  const store = newToolSettingStore(db, newSealer(null, {}), () => false);
  const troupe = { ...newServices(db, { dataDir: null }), toolSettings: store };
  return { store, ask: appRouter.createCaller({ troupe, principal }).toolSettings };
}
const KEY = "ghp_abcdefghijklmnop4321";

test("a search service is saved, returned without its key, and removed", async () => {
  const { store, ask } = newCaller();
  const saved = await ask.save({ purpose: "code", kind: "github", base_url: "", key: KEY });
  expect(saved).toMatchObject({ saved: { kind: "github", key_hint: "4321" }, needs_key: false });
  expect(JSON.stringify([saved, await ask.list()])).not.toContain(KEY);
  expect(store.backendFor("code")?.key).toBe(KEY);
  expect(await ask.save({ purpose: "code", kind: "github", base_url: "", key: null })).toMatchObject({
    needs_key: true,
  });
  expect(await ask.remove({ purpose: "code" })).toEqual({ purpose: "code" });
  await expect(ask.remove({ purpose: "code" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("invalid settings and unauthenticated callers are rejected", async () => {
  const { ask } = newCaller();
  const searxng = { purpose: "web", kind: "searxng", base_url: "http://localhost:8888" } as const;
  for (const input of [
    { ...searxng, base_url: "" },
    { ...searxng, base_url: "file:///etc" },
    { ...searxng, base_url: "http://a:b@localhost" },
    { ...searxng, purpose: "code" as const },
    { ...searxng, key: "with\u200bcharacter" },
  ])
    await expect(ask.save(input)).rejects.toMatchObject({ code: "BAD_REQUEST" });
  const { ask: anonymous } = newCaller(null);
  await expect(anonymous.list()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  await expect(anonymous.save(searxng)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
});
