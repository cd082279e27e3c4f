import { beforeEach, expect, test } from "vitest";
import type { Db } from "@/db/open";
import { emptyDb } from "@/db/testing";
import { runOperations } from "@/server/operations/runs/runs";
import type { Container } from "@/server/services";
import { WorkspaceStore } from "@/server/store/runs/workspace";
import { downloadFile } from "./download-file";
import { procedures } from "./expose";
import { router } from "./trpc";

const fileProcedures = procedures({ files: runOperations.files, file: runOperations.file });
const isThere = { find: () => ({}) } as unknown as Container["runs"];

let db: Db;
const caller = () =>
  router(fileProcedures).createCaller({
    troupe: { workspace: new WorkspaceStore(db), runs: isThere } as Container,
    principal: { kind: "session", id: "s" },
  });

beforeEach(() => {
  db = emptyDb();
  const files = new WorkspaceStore(db);
  files.write("run_1", "notes/größe (1).html", "<script>alert(1)</script>", { writtenBy: "a" });
  files.write("run_1", "report.md", "first", { writtenBy: "b" });
  files.write("run_1", "report.md", "second", { writtenBy: "c" });
});

test("files of a run are listed with their newest version, without those of other runs", async () => {
  const listed = await caller().files({ run_id: "run_1" });
  expect(listed.map(({ path, version }) => [path, version])).toEqual([
    ["notes/größe (1).html", 1],
    ["report.md", 2],
  ]);
  expect(await caller().files({ run_id: "run_2" })).toEqual([]);
});

test("a file is read at the requested version and offset", async () => {
  const read = (more: object) => caller().file({ run_id: "run_1", path: "report.md", ...more });
  expect((await read({})).content).toBe("second");
  expect((await read({ version: 1 })).content).toBe("first");
  expect((await read({ offset: 3 })).content).toBe("ond");
});

test("unknown files and invalid paths are rejected with a message", async () => {
  await expect(caller().file({ run_id: "run_2", path: "report.md" })).rejects.toThrow(
    "This file doesn't exist. It may have been deleted.",
  );
  await expect(caller().file({ run_id: "run_1", path: "../report.md" })).rejects.toThrow("contains . or ..");
});

test("reading files requires a session", async () => {
  const anonymous = router(fileProcedures).createCaller({
    troupe: { workspace: new WorkspaceStore(db), runs: isThere } as Container,
    principal: null,
  });
  await expect(anonymous.files({ run_id: "run_1" })).rejects.toThrow("Sign in first.");
});

test("a download is plain text, whatever its type, and keeps its name", async () => {
  const answer = downloadFile({ workspace: new WorkspaceStore(db) }, "run_1", ["notes", "größe (1).html"]);
  expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  expect(answer.headers.get("content-disposition")).toBe(
    `attachment; filename="gr__e__1_.html"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%281%29.html`,
  );
  expect(await answer.text()).toBe("<script>alert(1)</script>");
  expect(await downloadFile({ workspace: new WorkspaceStore(db) }, "run_1", ["report.md"], 1).text()).toBe(
    "first",
  );
});

test("an invalid path is not found, even if the error comes from another bundle", () => {
  for (const name of ["con", "nul.txt", "..\\\\a", "a:b", "a\u0000b", ".."])
    expect(downloadFile({ workspace: new WorkspaceStore(db) }, "run_1", [name]).status, name).toBe(404);
  const read = () => {
    throw Object.assign(new Error("No path."), { name: "WorkspaceError" });
  };
  const workspace = Object.assign(new WorkspaceStore(db), { read });
  expect(downloadFile({ workspace }, "run_1", ["con"]).status).toBe(404);
});

test("a missing file is not found, and no path leads outside its run", () => {
  for (const path of [["nothing.md"], ["..", "report.md"], ["notes"], [""]])
    expect(downloadFile({ workspace: new WorkspaceStore(db) }, "run_1", path).status).toBe(404);
  expect(downloadFile({ workspace: new WorkspaceStore(db) }, "run_2", ["report.md"]).status).toBe(404);
});
