import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { LIMITS } from "@/server/limits";
import { normalPath, WorkspaceError, WorkspaceStore } from "./workspace";

const RUN = "run_a";
function newStore() {
  const db = emptyDb();
  let step = 0;
  const store = new WorkspaceStore(db, () => 1000);
  return {
    db,
    store,
    write: (path: string, content: string, options: { append?: boolean; run?: string } = {}) =>
      store.write(options.run ?? RUN, path, content, {
        writtenBy: `step-${++step}`,
        append: !!options.append,
      }),
  };
}
const codeOf = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    if (error instanceof WorkspaceError) return error.code;
    throw error;
  }
  return "none";
};

test("every write creates a version, and older versions stay readable", () => {
  const { store, write } = newStore();
  const first = write("notes/plan.md", "one");
  const second = write("./notes//plan.md", "two");
  expect([first.version, second.version, second.path]).toEqual([1, 2, "notes/plan.md"]);
  expect(first.artifact_id).not.toBe(second.artifact_id);
  expect(store.read(RUN, { path: "notes/plan.md" })).toMatchObject({
    content: "two",
    version: 2,
    media_type: "text/markdown",
    next_offset: null,
  });
  expect(store.read(RUN, { path: "notes/plan.md", version: 1 })?.content).toBe("one");
  expect(store.read(RUN, { artifact_id: first.artifact_id })?.content).toBe("one");
  write("a.txt", "x");
  expect(store.list(RUN).map(({ path, version }) => [path, version])).toEqual([
    ["a.txt", 1],
    ["notes/plan.md", 2],
  ]);
  expect(store.versions(RUN, "notes/plan.md").map(({ version }) => version)).toEqual([1, 2]);
});

test("a repeated step writes only once, even when it appends", () => {
  const { store } = newStore();
  const log = (writtenBy: string) =>
    store.write(RUN, "log.txt", "line\n", { writtenBy, append: true, source: { role_name: "writer" } });
  const once = log("s1");
  expect(log("s1")).toEqual(once);
  log("s2");
  expect(store.read(RUN, { path: "log.txt" })).toMatchObject({
    content: "line\nline\n",
    version: 2,
    source: { role_name: "writer" },
  });
});

test("a run can't read another run's files, even by artifact id", () => {
  const { store, write } = newStore();
  const { artifact_id } = write("secret.txt", "CANARY-FILE");
  expect(store.read("run_b", { artifact_id })).toBeUndefined();
  expect(store.read("run_b", { path: "secret.txt" })).toBeUndefined();
  expect(store.list("run_b")).toEqual([]);
});

test("paths that escape the workspace, hide something or aren't valid are rejected", () => {
  const { write } = newStore();
  const odd = [
    "",
    ".",
    "..",
    "../x",
    "a/../../x",
    "a/./b",
    "/etc/passwd",
    "//x",
    "C:\\x",
    "a\\b",
    "..%2fx",
    "a\0b",
    "a\nb",
    "a\u202eb",
    "a/",
    "a/ b",
    "a./b",
    "nul",
    "docs/CON.txt",
    "~/x*",
    "x".repeat(81),
    "a/".repeat(8) + "b",
    "tool-results/x.txt",
    "./tool-results/x.txt",
  ];
  expect(odd.filter((path) => codeOf(() => write(path, "x")) !== "BAD_PATH")).toEqual([]);
  expect(
    ["a.txt", "Résumé (2).md", "src/app/main-1.ts", "报告.md", "__proto__"].map(normalPath),
  ).toHaveLength(5);
});

test("any path is either rejected or normalized", () => {
  const anyPath = fc
    .array(fc.oneof(fc.constantFrom("..", ".", "/", "a", " ", "\\", "é", "é", "con"), fc.string()), {
      maxLength: 8,
    })
    .map((parts) => parts.join(fc.sample(fc.constantFrom("", "/"), 1)[0]));
  fc.assert(
    fc.property(anyPath, (path) => {
      if (codeOf(() => normalPath(path)) !== "none") return;
      const normal = normalPath(path);
      expect(normalPath(normal)).toBe(normal);
      expect(normal.split("/").some((part) => part === ".." || part === "." || part === "")).toBe(false);
      expect(normal).not.toMatch(/[\p{C}\\]/u);
    }),
  );
});

test("reading a file in parts returns all of it and cuts no character", () => {
  const { store, write } = newStore();
  let n = 0;
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", minLength: 1 }),
      fc.integer({ min: 1, max: 7 }),
      (text, limit) => {
        const path = `f${n++ % 400}.txt`;
        write(path, text);
        let read = "";
        for (let offset: number | null = 0; offset !== null; ) {
          const part = store.read(RUN, { path }, { offset, limit });
          expect(part?.content.isWellFormed()).toBe(true);
          read += part?.content;
          offset = part?.next_offset ?? null;
        }
        expect(read).toBe(text);
      },
    ),
  );
  expect(store.read(RUN, { path: "f0.txt" }, { offset: 1e9, limit: 5 })).toMatchObject({
    content: "",
    next_offset: null,
  });
});

test("file sizes, run sizes and file counts are limited, and a rejection names the limit", () => {
  const { store, write } = newStore();
  const { fileBytes, files } = LIMITS.workspace;
  expect(() => write("big.txt", "é".repeat(fileBytes / 2 + 1))).toThrow(/at most 5 MiB/);
  const most = "x".repeat(fileBytes);
  for (let n = 0; n < 10; n++) write("same.txt", most);
  expect(() => write("same.txt", "x")).toThrow(/at most 50 MiB/);
  expect(write("same.txt", "x", { run: "run_b" }).version).toBe(1);
  for (let n = 1; n < files; n++) write(`f${n}.txt`, "", { run: "run_b" });
  expect(() => write("one-more.txt", "", { run: "run_b" })).toThrow(/at most 500 files/);
  expect(write("f1.txt", "again", { run: "run_b" }).version).toBe(2);
  expect(store.list("run_b")).toHaveLength(files);
});
