import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readImport } from "../../pipeline";
import { FIXTURES, files, fixtureFiles } from "../../testing";

const read = (texts: Record<string, string>) => readImport(files(texts));
const textOf = ({ findings }: ReturnType<typeof read>) =>
  findings.map(({ level, at, message }) => `${level} ${at}: ${message}`).join("\n");

describe("roles of TaskWeaver", () => {
  test("a role has its introduction, and its program is named at its line", () => {
    const result = read({
      "a.role.yaml":
        "alias: Clerk\nmodule: company.roles.clerk.Clerk\nintro: |-\n  - Clerk files documents.\n  {shelves}\nmode: strict\n",
    });
    expect(result.imported?.roles).toMatchObject([
      { name: "Clerk", description: "- Clerk files documents." },
    ]);
    expect(result.imported?.roles[0]?.rule).toBeUndefined();
    expect(textOf(result)).toMatch(
      /dropped intro: .*\{shelves\}[\s\S]*company\.roles\.clerk\.Clerk was left out[\s\S]*dropped mode/,
    );
    expect(result.findings.find(({ at }) => at === "module")).toMatchObject({ file: "a.role.yaml", line: 2 });
  });

  test("Echo answers by rule, and roles that search get the tool to select", () => {
    const result = read({
      "echo.role.yaml":
        "alias: Echo\nmodule: taskweaver.ext_role.echo.echo.Echo\nintro: Repeats the input.\n",
      "search.role.yaml":
        "alias: Search\nmodule: taskweaver.ext_role.web_search.web_search.WebSearch\nintro: Searches.\n",
      "other.role.yaml": "alias: Other\nmodule: taskweaver.ext_role.echoes.Echoes\nintro: 5\n",
    });
    expect(result.imported?.roles.map(({ name, rule, tools }) => [name, rule?.kind, tools])).toEqual([
      ["Echo", "echo", []],
      ["Search", undefined, ["web_search"]],
      ["Other", undefined, []],
    ]);
    expect(result.imported?.tools).toMatchObject([{ name: "web_search", by: ["Search"] }]);
  });

  test.each([
    ["two of one name", "alias: A\nmodule: __proto__\nintro: One of two.\n", ["A", "A 2"]],
    ["a name that is too long", `alias: ${"n".repeat(5000)}\nmodule: m\n`, ["n".repeat(80), "A"]],
  ])("hostile roles are read safely: %s", (_what, text, names) => {
    const { imported } = read({ "a.yaml": text, "b.yaml": "alias: A\nmodule: b\n" });
    expect(imported?.roles.map(({ name }) => name)).toEqual(names);
  });
});

describe.runIf(existsSync(FIXTURES))("real roles of TaskWeaver", () => {
  test("all come in together, and examples of conversations are named", () => {
    const { imported, found } = readImport(fixtureFiles("taskweaver"));
    expect(found.map(({ format }) => format)).toEqual(
      expect.arrayContaining(["taskweaver-roles", "taskweaver-example"]),
    );
    const roles = imported?.roles ?? [];
    expect(roles.map(({ name }) => name)).toEqual(["CodeInterpreter", "Echo", "Recepta"]);
    expect(roles[1]?.rule).toEqual({ kind: "echo" });
    expect(roles[0]?.description).not.toContain("{plugin_description}");
  });
});
