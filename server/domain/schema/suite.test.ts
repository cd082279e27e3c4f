import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { JsonSchema } from "@/server/domain/base/values";
import { readSchema } from "./schema";

// The draft's own tests, as they are published; where from and under which licence stands in the file.
interface Group {
  description: string;
  schema: JsonSchema | boolean;
  tests: { description: string; data: unknown; valid: boolean }[];
}
const { files } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, "testing/draft-2020-12.frozen.json"), "utf8"),
) as { files: Record<string, Group[]> };

/**
 * What does not come out as the draft says: how many tests of a group, and why. Only formats and other vocabularies
 * refuse what the draft would take; all else is taken, and told as unchecked where there is a rule.
 */
const remote = "nothing is fetched, so schemas of elsewhere are not known";
const asserted = "formats are checked, which the draft leaves open";
const lenient = "the format is checked less strictly than its standard wants";
const KNOWN: Record<string, [failing: number, why: string]> = {
  "defs: validate definition against metaschema": [1, remote],
  "dynamicRef: strict-tree schema, guards against misspelled properties": [1, remote],
  "dynamicRef: tests for implementation dynamic anchor and reference link": [2, remote],
  "dynamicRef: $ref and $dynamicAnchor are independent of order - $defs first": [2, remote],
  "dynamicRef: $ref and $dynamicAnchor are independent of order - $ref first": [2, remote],
  "dynamicRef: $ref to $dynamicRef finds detached $dynamicAnchor": [1, remote],
  "ref: remote ref, containing refs itself": [1, remote],
  "refRemote: remote ref": [1, remote],
  "refRemote: fragment within remote ref": [1, remote],
  "refRemote: anchor within remote ref": [1, remote],
  "refRemote: ref within remote ref": [1, remote],
  "refRemote: base URI change": [1, remote],
  "refRemote: base URI change - change folder": [1, remote],
  "refRemote: base URI change - change folder in subschema": [1, remote],
  "refRemote: root ref in remote ref": [1, remote],
  "refRemote: remote ref with ref to defs": [1, remote],
  "refRemote: Location-independent identifier in remote ref": [1, remote],
  "refRemote: retrieved nested refs resolve relative to their URI not $id": [1, remote],
  "refRemote: remote HTTP ref with different $id": [1, remote],
  "refRemote: remote HTTP ref with different URN $id": [1, remote],
  "refRemote: remote HTTP ref with nested absolute ref": [1, remote],
  "refRemote: $ref to $ref finds detached $anchor": [1, remote],
  "vocabulary: schema that uses custom metaschema with with no validation vocabulary": [
    1,
    "other dialects are read as 2020-12, which is told",
  ],
  ...Object.fromEntries(
    [
      ...["date", "date-time", "duration", "email", "hostname", "idn-email", "ipv4", "ipv6", "iri"],
      ...["iri-reference", "json-pointer", "regex", "relative-json-pointer", "time", "uri", "uri-reference"],
      ...["uri-template", "uuid"],
    ].map((format) => [`format: ${format} format`, [1, asserted]]),
  ),
  "optional/format/email: validation of e-mail addresses": [1, lenient],
  "optional/format/hostname: validation of A-label (punycode) host names": [23, lenient],
  "optional/format/iri: validation of IRIs": [1, lenient],
  "optional/format/uri: validation of URIs": [1, lenient],
  "optional/format/uri-reference: validation of URI References": [2, lenient],
};

const results = Object.entries(files).flatMap(([file, groups]) =>
  groups.flatMap(({ description, schema, tests }) => {
    const ready = readSchema(schema);
    return tests.map(({ data, valid }) => {
      const isValid = ready.errors(data).length === 0;
      return {
        file,
        group: `${file}: ${description}`,
        isRight: isValid === valid,
        isSame: isValid === ready.fits(data),
      };
    });
  }),
);

test("the official suite of the draft passes except for a known list", () => {
  const failing: Record<string, number> = {};
  for (const { group, isRight } of results) if (!isRight) failing[group] = (failing[group] ?? 0) + 1;
  expect(failing).toEqual(
    Object.fromEntries(Object.entries(KNOWN).map(([group, [count]]) => [group, count])),
  );
});

test("more than 96% of the required tests of the draft pass", () => {
  const required = results.filter(({ file }) => !file.startsWith("optional/"));
  const right = required.filter(({ isRight }) => isRight).length;
  expect(required.length).toBe(1299);
  expect(right / required.length).toBeGreaterThan(0.96);
});

test("collecting errors and checking validity agree", () => {
  expect(results.filter(({ isSame }) => !isSame)).toEqual([]);
});
