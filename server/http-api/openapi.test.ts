import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { canonicalJson } from "@/server/domain/base/json";
import { openApi } from "./openapi";
import { ENDPOINTS } from "./table";

const FIXTURE = path.join(import.meta.dirname, "openapi.frozen.json");

/** Endpoints and schemas one to a line, sorted. */
function lines(): string[] {
  const { paths, components, ...rest } = openApi(ENDPOINTS, "0.0.0");
  const { schemas, ...others } = components as Record<string, object>;
  const entries = Object.entries({ ...(paths as Record<string, object>), ...schemas });
  return [
    canonicalJson({ ...rest, ...others }),
    ...entries.map(([name, part]) => canonicalJson({ [name]: part })).sort(),
  ];
}

test("the HTTP API stays backward compatible; UPDATE_DOCS=1 records a deliberate change", () => {
  if (process.env.UPDATE_DOCS) writeFileSync(FIXTURE, `[\n${lines().join(",\n")}\n]\n`);
  const now = lines();
  const before = JSON.parse(readFileSync(FIXTURE, "utf8")) as object[];
  // Only what differs is compared, since all of it is too much to read.
  const same = new Set(now).intersection(new Set(before.map(canonicalJson)));
  expect(now.filter((line) => !same.has(line)).map((line) => JSON.parse(line) as object)).toEqual(
    before.filter((part) => !same.has(canonicalJson(part))),
  );
});
