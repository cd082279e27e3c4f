import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { rolePrompt } from "@/server/domain/agent/prompt";
import { RoleDefinition } from "@/server/domain/agent/role";
import { newRoleFolder, type RoleFolder, readRoleFile } from "./role-folder";

let dir: string;
let folder: RoleFolder | undefined;
let writes = 0;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), "roles-"));
});
afterEach(() => {
  folder?.close();
  rmSync(dir, { recursive: true });
});
/** Each time with a later time of its own: two writes within a millisecond must not look alike. */
function write(name: string, text: string) {
  const place = path.join(dir, name);
  writeFileSync(place, text);
  utimesSync(place, 1_000_000, 1_000_000 + ++writes);
}
const shown = (open: RoleFolder) => open.roles().map(({ role, file }) => `${role.name} (${file})`);
const summaryOf = (open: RoleFolder) =>
  open.findings().map(({ level, at, message }) => `${level} ${at}: ${message}`);

describe("Markdown role files", () => {
  test("a file in the .claude/agents format is read", () => {
    const { roles, findings } = readRoleFile(
      "code-reviewer.md",
      `---
name: code-reviewer
description: Use this agent for reviews. Example: after a change
tools: Read, WebFetch, Bash, mcp__github__search, Task, operator_tool
model: sonnet
color: purple
---

You review code.
Use {{braces}} and {% tags %} as they stand.
`,
      (name) => name === "operator_tool",
    );
    expect(roles).toEqual([
      RoleDefinition.parse({
        name: "code-reviewer",
        description: "Use this agent for reviews. Example: after a change",
        tools: ["file_read", "browse_url", "run_command", "mcp:github/search", "operator_tool"],
        color: "purple",
        system_prompt_template:
          'You review code.\nUse {{ "{{" }}braces}} and {{ "{%" }} tags %} as they stand.',
      }),
    ]);
    expect(rolePrompt(roles[0]!)).toBe("You review code.\nUse {{braces}} and {% tags %} as they stand.");
    expect(findings.map(({ level, at }) => `${level} ${at}`)).toEqual([
      "dropped model",
      "changed tools.0",
      "changed tools.1",
      "changed tools.2",
      "changed tools.3",
      "dropped tools.4",
    ]);
  });

  test("a file in the .github/agents format is read and named after its file", () => {
    const { roles, findings } = readRoleFile(
      "tester.agent.md",
      `---\r\ndescription: 'Tests: all of them'\r\ntools: ['*', 'web_search', 'web_search']\r\ntarget: vscode\r\n---\r\nTest.`,
    );
    expect(roles).toEqual([
      RoleDefinition.parse({
        name: "tester",
        description: "Tests: all of them",
        tools: ["web_search"],
        system_prompt_template: "Test.",
      }),
    ]);
    expect(findings.map(({ message }) => message)).toEqual([
      "A role can't use all tools. List the tools it needs.",
      'Unknown field "target" was left out.',
    ]);
  });

  test("missing front matter is an error, and empty front matter is accepted", () => {
    expect(readRoleFile("a.md", "Just words.").findings).toEqual([
      {
        level: "error",
        at: "",
        message: 'The file has no front matter. Add it between two "---" lines at the beginning.',
      },
    ]);
    expect(readRoleFile("a.md", "---\n---\nBe kind.").roles).toEqual([
      RoleDefinition.parse({ name: "a", system_prompt_template: "Be kind." }),
    ]);
    expect(readRoleFile("a.md", "---\n[1, 2\n---\n").roles).toEqual([]);
  });
});

describe("role folders", () => {
  test("a folder may mix three formats, and the first role of a name wins", () => {
    write("a.yaml", "- name: A\n- name: B");
    write("b.json", '{"name": "B"}');
    write("c.md", "---\nname: C\n---\nBe brief.");
    write("README.md", "How to write roles");
    write("notes.txt", "name: D");
    write(".hidden.yaml", "name: E");
    mkdirSync(path.join(dir, "folder.yaml"));
    folder = newRoleFolder(dir);
    expect(shown(folder)).toEqual(["A (a.yaml)", "B (a.yaml)", "C (c.md)"]);
    expect(summaryOf(folder)).toEqual(['dropped b.json: The role "B" is also in a.yaml, which was kept.']);
  });

  test("a half-written file keeps its last valid version", () => {
    const onChange = vi.fn();
    write("a.yaml", "name: A\ngoals: [one]");
    folder = newRoleFolder(dir, onChange);
    folder.refresh();
    expect(onChange).not.toHaveBeenCalled();
    write("a.yaml", "name: A\ngoals: [tw");
    folder.refresh();
    expect(shown(folder)).toEqual(["A (a.yaml)"]);
    expect(folder.roles()[0]?.role.goals).toEqual(["one"]);
    expect(summaryOf(folder)).toEqual([
      expect.stringMatching(/^error a\.yaml: Invalid YAML: line 2/),
      "info a.yaml: Until it can be read, the previous version stays in use.",
    ]);
    // Broken twice, it is still the last good one that stays.
    write("a.yaml", "");
    folder.refresh();
    expect(shown(folder)).toEqual(["A (a.yaml)"]);
    write("a.yaml", "name: A\ngoals: [two]");
    folder.refresh();
    expect(folder.roles()[0]?.role.goals).toEqual(["two"]);
    expect(summaryOf(folder)).toEqual([]);
    rmSync(path.join(dir, "a.yaml"));
    folder.refresh();
    expect(shown(folder)).toEqual([]);
    expect(onChange).toHaveBeenCalledTimes(4);
  });

  test("a missing folder is empty and is read once it exists", () => {
    const later = path.join(dir, "later");
    folder = newRoleFolder(later);
    expect([shown(folder), summaryOf(folder)]).toEqual([[], []]);
    mkdirSync(later);
    writeFileSync(path.join(later, "a.yaml"), "name: A");
    folder.refresh();
    expect(shown(folder)).toEqual(["A (a.yaml)"]);
  });

  test("a folder is reloaded when a file changes", async () => {
    await new Promise<void>((resolve) => {
      folder = newRoleFolder(dir, resolve);
      write("a.yaml", "name: A");
    });
    expect(shown(folder!)).toEqual(["A (a.yaml)"]);
  }, 30_000);

  test("oversized and hostile files are reported, and the rest of the folder is read", () => {
    write("a.yaml", "x".repeat(2 * 1024 * 1024));
    write("b.json", "[".repeat(100_000));
    write("c.md", `---\n${"? ".repeat(40_000)}x\n---\n`);
    write("d.yaml", "name: D");
    folder = newRoleFolder(dir);
    expect(shown(folder)).toEqual(["D (d.yaml)"]);
    expect(summaryOf(folder)).toEqual([
      "error a.yaml: The file exceeds 256 KiB.",
      expect.stringMatching(/^error b\.json: .*nested/),
      expect.stringMatching(/^error c\.md: .*nested/),
    ]);
  });
});
