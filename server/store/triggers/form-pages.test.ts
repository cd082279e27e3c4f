import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { TriggerSettings } from "@/server/domain/trigger/trigger";
import { newSealer } from "@/server/secrets/sealer";
import { frameAncestors } from "./form-pages";
import { newTriggerStore } from "./triggers";

test("only the page of an enabled form may be embedded, by the sites of its list", () => {
  const db = emptyDb();
  const store = newTriggerStore(db, newSealer(null, {}));
  const add = (kind: string, key: string, config: object) =>
    store.create("wf_1", TriggerSettings.parse({ kind, config }), { by: "session:1", enabled: true, key });
  const { id } = add("form", "embedded", { frame_ancestors: ["https://example.org"] });
  add("form", "alone", {});
  add("webhook", "hook", {});
  const framesOf = (key: string) => frameAncestors(db, key);
  expect(framesOf("embedded")).toEqual(["https://example.org"]);
  for (const key of ["alone", "hook", "unknown", ""]) expect(framesOf(key)).toEqual([]);
  store.save(id, { enabled: false, by: "session:1" });
  expect(framesOf("embedded")).toEqual([]);
});

test.each(["https://a.example; script-src *", "https://a.example https://b.example", "*", "javascript:a"])(
  "a site to embed a form must be an origin, not %s",
  (site) => {
    const read = TriggerSettings.safeParse({ kind: "form", config: { frame_ancestors: [site] } });
    expect(read.success).toBe(false);
  },
);
