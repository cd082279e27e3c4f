import { expect, test } from "vitest";
import { workspaceFiles } from "@/db/schema";
import { emptyDb } from "@/db/testing";
import { LIMITS } from "@/server/limits";
import { type FileWrite, normalPath, WorkspaceError, WorkspaceStore } from "./workspace";

const RUN = "run_a";
function newStore() {
  const db = emptyDb();
  const store = new WorkspaceStore(db, () => 1000);
  let step = 0;
  const write = (path: string, content: string, more: Partial<FileWrite> = {}) =>
    store.write(RUN, path, content, { writtenBy: `step-${++step}`, ...more });
  return { db, store, write };
}
const errorOf = (act: () => unknown) => {
  try {
    return act();
  } catch (error) {
    if (error instanceof WorkspaceError) return `${error.code}: ${error.message}`;
    throw error;
  }
};
const long = (length: number) => {
  // Parts of 80 letters, and what is left.
  const whole = Math.floor(length / 81);
  return `${"x".repeat(80)}/`.repeat(whole) + "y".repeat(length - whole * 81);
};

test.each([
  ["", "it has no file name"],
  ["./", "it has no file name"],
  ["/a", "it must not start with /; files are in the run's workspace"],
  ["a/b/c/d/e/f/g/h/i", "it has more than 8 parts"],
  ["a/", "it ends with /"],
  ["a/../b", "it contains . or .."],
  ["a/./b", "it contains . or .."],
  ["..", "it contains . or .."],
  ["x".repeat(81), "use letters, digits, spaces and _ . - ( ) + @ , = with at most 80 characters per part"],
  ["a?b", "use letters, digits, spaces and _ . - ( ) + @ , = with at most 80 characters per part"],
  [" a", "a part starts with a space, or ends with a space or dot"],
  ["a ", "a part starts with a space, or ends with a space or dot"],
  ["b/a.", "a part starts with a space, or ends with a space or dot"],
  ["nul", '"nul" is a reserved name'],
  ["b/COM1.txt", '"COM1.txt" is a reserved name'],
  [long(LIMITS.workspace.pathLength + 1), `it has more than ${LIMITS.workspace.pathLength} characters`],
])("the path %.40s is rejected", (path, why) => {
  const shown = path.slice(0, 80);
  expect(errorOf(() => normalPath(path))).toBe(`BAD_PATH: "${shown}" can't be a file path: ${why}.`);
});

test.each([
  ["a", "a"],
  ["././a", "a"],
  ["a//b///c", "a/b/c"],
  ["a/b/c/d/e/f/g/h", "a/b/c/d/e/f/g/h"],
  ["e\u0301", "\u00e9"],
  ["x".repeat(80), "x".repeat(80)],
  ["a b.c-d_(1)+@,=", "a b.c-d_(1)+@,="],
  ["nuls", "nuls"],
  ["com10.txt", "com10.txt"],
  ["a/.hidden", "a/.hidden"],
  [long(LIMITS.workspace.pathLength), long(LIMITS.workspace.pathLength)],
])("the path %.40s is accepted and normalized", (path, normal) => {
  expect(normalPath(path)).toBe(normal);
});

test("an unprintable character in a path is shown as a question mark", () => {
  expect(errorOf(() => normalPath("a\u0007\u202eb"))).toContain(
    'BAD_PATH: "a??b" can\'t be a file path: use letters, digits, spaces and _ . - ( ) + @ , = with at most 80 characters per part.',
  );
});

test("a file has its author, time, media type and taint", () => {
  const { store, write } = newStore();
  const source = { agent_id: "a", role_name: "Writer", node_id: "n", task_id: "t", tool_name: "file_write" };
  const one = write("one.JSON", "é", { source, tainted: false });
  const two = write("tool-results/two", "x", { kind: "result" });
  expect(one).toEqual({ artifact_id: one.artifact_id, path: "one.JSON", version: 1, size: 2 });
  expect(two).toEqual({ artifact_id: two.artifact_id, path: "tool-results/two", version: 1, size: 1 });
  const files = [
    { ...one, kind: "file", media_type: "application/json", source, tainted: false, created_at: 1000 },
    { ...two, kind: "result", media_type: "text/plain", source: {}, tainted: true, created_at: 1000 },
  ];
  expect(store.list(RUN)).toEqual(files);
  expect(store.versions(RUN, "./one.JSON")).toEqual([files[0]]);
  expect(store.read(RUN, { path: "one.JSON" })).toEqual({
    ...files[0],
    content: "é",
    offset: 0,
    total: 1,
    next_offset: null,
  });
});

test("only tool results can be written to their folder", () => {
  const { write } = newStore();
  expect(errorOf(() => write("./tool-results/x", "x"))).toBe(
    "BAD_PATH: The folder tool-results is for tool results. Choose another path.",
  );
  expect(write("tool-results", "x", { kind: "result" }).path).toBe("tool-results");
  expect(write("a/tool-results", "x").path).toBe("a/tool-results");
});

test.each([
  [false, true, {}, true],
  [true, true, { tainted: false }, true],
  [true, false, { tainted: false }, false],
  [false, false, { tainted: false }, false],
  [false, true, { tainted: false }, false],
])(
  "a file's taint is %s before and, after a write with append %s and %j, %s",
  (before, append, more, after) => {
    const { store, write } = newStore();
    write("a", "one", { tainted: before });
    write("a", "two", { append, ...more });
    expect(store.read(RUN, { path: "a" })).toMatchObject({
      content: append ? "onetwo" : "two",
      tainted: after,
    });
  },
);

test("appending to a missing file creates it, and an unpaired surrogate is replaced", () => {
  const { store, write } = newStore();
  write("a", "b\ud800", { append: true });
  expect(store.read(RUN, { path: "a" })).toMatchObject({ content: "b\ufffd", version: 1, size: 4 });
});

test("an unreadable source is ignored, and an unknown kind counts as a file", () => {
  const { db, store, write } = newStore();
  write("a", "x", { source: { agent_id: "a" } });
  db.update(workspaceFiles).set({ source: '{"agent_id":7}', kind: "picture" }).run();
  expect(store.list(RUN)).toMatchObject([{ source: {}, kind: "file" }]);
});

test.each([
  [{}, "abcdef", 0, null],
  [{ limit: 2 }, "ab", 0, 2],
  [{ offset: 4, limit: 2 }, "ef", 4, null],
  [{ offset: 4, limit: 1 }, "e", 4, 5],
  [{ offset: -3, limit: 1 }, "a", 0, 1],
  [{ offset: 2.9, limit: 1 }, "c", 2, 3],
  [{ offset: 6 }, "", 6, null],
  [{ offset: 99 }, "", 6, null],
  [{ limit: 0 }, "a", 0, 1],
])("reading part %j of six letters returns %j", (part, content, offset, next_offset) => {
  const { store, write } = newStore();
  write("a", "abcdef");
  expect(store.read(RUN, { path: "a" }, part)).toMatchObject({ content, offset, total: 6, next_offset });
});

test.each([
  [{ limit: 1 }, "😀", 0, 2],
  [{ offset: 1, limit: 1 }, "😀", 0, 2],
  [{ offset: 2, limit: 1 }, "b", 2, 3],
  [{ offset: 2, limit: 2 }, "b", 2, 3],
  [{ offset: 2, limit: 3 }, "b😀", 2, null],
  [{ offset: 4, limit: 9 }, "😀", 3, null],
])("reading part %j of a file with emoji cuts no character: %j", (part, content, offset, next_offset) => {
  const { store, write } = newStore();
  write("a", "😀b😀");
  expect(store.read(RUN, { path: "a" }, part)).toMatchObject({ content, offset, total: 5, next_offset });
});

test("a file may be as large as the limit, and a rejection names both sizes", () => {
  const { write } = newStore();
  const { fileBytes } = LIMITS.workspace;
  expect(write("a", "x".repeat(fileBytes)).size).toBe(fileBytes);
  expect(errorOf(() => write("a", "x".repeat(fileBytes * 1.5)))).toBe(
    "TOO_LARGE: a would have 7.5 MiB. A file can have at most 5 MiB.",
  );
  expect(errorOf(() => write("a", "x", { append: true }))).toMatch(/^TOO_LARGE: a would have 5 MiB/);
});

test("the number of versions per run is limited", () => {
  const { db, write } = newStore();
  const { versions } = LIMITS.workspace;
  write("a", "");
  const [row] = db.select().from(workspaceFiles).all();
  if (!row) return expect.fail("nothing was written");
  for (let at = 2; at < versions; at += 100)
    db.insert(workspaceFiles)
      .values(
        Array.from({ length: Math.min(100, versions - at) }, (_, k) => ({
          ...row,
          version: at + k,
          artifactId: `art_${at + k}`,
          writtenBy: `before ${at + k}`,
        })),
      )
      .run();
  expect(write("a", "").version).toBe(versions);
  expect(errorOf(() => write("a", ""))).toBe("TOO_LARGE: A run can have at most 5000 versions of its files.");
});
