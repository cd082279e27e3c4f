import { expect, test } from "vitest";
import { z } from "zod";
import { isRaw } from "@/server/domain/base/lenient-reader";
import { Drawing } from "./drawing";
import { type Format, nothingImported } from "./format";
import { readImport } from "./pipeline";

/** A format for tests: a map with "letters", each of which becomes a step. */
const letters: Format = {
  id: "letters",
  label: "a list of letters",
  recognise: (sources) =>
    sources.flatMap((source) =>
      isRaw(source.value) && Array.isArray(source.value.letters) ? [{ sure: 2, files: [source] }] : [],
    ),
  read({ claim, findings }) {
    const [source] = claim.files;
    if (!source || !isRaw(source.value) || !Array.isArray(source.value.letters)) return nothingImported();
    const drawing = new Drawing("Letters", findings);
    const report = source.on(findings, "letters");
    let before = drawing.start([]);
    for (const [at, letter] of source.value.letters.entries()) {
      const id = drawing.placeholder(String(letter), {
        name: String(letter),
        original: `letter(${String(letter)})`,
        why: "Letters cannot work.",
        at: String(at),
        findings: report,
      });
      drawing.edge(before, id);
      before = id;
    }
    drawing.edge(before, drawing.end());
    return { ...nothingImported("Letters"), graph: drawing.finish() };
  },
};
const numbers: Format = {
  id: "numbers",
  label: "a list of numbers",
  instead: "Write them out as letters.",
  recognise: (sources) =>
    sources.flatMap((source) =>
      isRaw(source.value) && Array.isArray(source.value.numbers) ? [{ sure: 2, files: [source] }] : [],
    ),
};
const read = (files: Record<string, string>) =>
  readImport(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    {},
    [numbers, letters],
  );

test("UTF-16 text is rejected with instructions", () => {
  const text = Buffer.from('{"nodes": []}', "utf16le").toString("utf8");
  const { findings, imported } = readImport([{ path: "a.json", text }]);
  expect(imported).toBeNull();
  expect(findings.map(({ message }) => message)).toEqual([expect.stringMatching(/Save it as UTF-8/)]);
});

test("a finding names its file, line and node", () => {
  const { findings, imported } = read({ "abc.yaml": "# three\nletters:\n  - a\n  - b\n" });
  expect(findings.map(({ level, file, line, at, node_id }) => ({ level, file, line, at, node_id }))).toEqual([
    { level: "placeholder", file: "abc.yaml", line: 3, at: "letters.0", node_id: "a" },
    { level: "placeholder", file: "abc.yaml", line: 4, at: "letters.1", node_id: "b" },
  ]);
  expect(Object.keys(imported?.graph?.nodes ?? {})).toEqual([
    "start",
    "a",
    "note_Original_of_a",
    "b",
    "note_Original_of_b",
    "end",
  ]);
});

test("a recognized but unsupported format is rejected with its name", () => {
  const { found, imported, findings } = read({ "n.json": '{"numbers": [1]}' });
  expect(imported).toBeNull();
  expect(found).toEqual([
    { format: "numbers", label: "a list of numbers", title: "n.json", files: ["n.json"], isReadable: false },
  ]);
  expect(findings).toEqual([
    { level: "error", at: "", message: "This is a list of numbers. Write them out as letters." },
  ]);
});

test("the first readable item of an import is read, and all items are listed", () => {
  const { found, picked, imported } = read({
    "n.json": '{"numbers": [1]}',
    "x/l.jsonc": '// mine\n{"letters": ["a", "b",],}',
    "readme.txt": "hello",
  });
  expect(found.map(({ title }) => title)).toEqual(["n.json", "x/l.jsonc"]);
  expect(picked).toBe(1);
  expect(imported?.name).toBe("Letters");
});

test("files that can't be parsed are reported with line and column", () => {
  expect(read({ "a.json": '{\n  "letters": [\n    a ]}' }).findings[0]?.message).toContain(
    "line 3, column 5",
  );
  expect(read({ "a.yaml": "letters:\n  - a\n b: [" }).findings[0]?.message).toContain("line 3");
});

test("a workflow in which nothing was recognized is rejected", () => {
  const { imported, findings } = readImport([
    { path: "", text: '{"troupe": 1, "workflow": {"nodes": {"a": {"type": "n8n"}}, "edges": []}}' },
  ]);
  expect(imported).toBeNull();
  expect(findings.map(({ level }) => level)).toEqual(["dropped", "error"]);
});

test("notes are placed above the workflow in separate rows, however long their text", () => {
  const long = "x".repeat(3_000);
  const { imported } = read({
    "many.json": JSON.stringify({ letters: ["a", "b", "c", "d", "e"].map((one) => one + long) }),
  });
  const boxes = Object.values(imported?.graph?.nodes ?? {}).flatMap(({ node_type, ui }) =>
    node_type === "note"
      ? [z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() }).parse(ui)]
      : [],
  );
  expect(boxes).toHaveLength(5);
  // Cards that have no place of their own are laid out from the top left corner on.
  expect(boxes.filter(({ y, height }) => y + height >= 0)).toEqual([]);
  const covered = boxes.filter((one, at) =>
    boxes
      .slice(0, at)
      .some((other) => Math.abs(one.x - other.x) < one.width && Math.abs(one.y - other.y) < one.height),
  );
  expect(covered).toEqual([]);
});
