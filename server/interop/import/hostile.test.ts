import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { unpack } from "./archive";
import { readImport } from "./road";
import { files } from "./testing";

const zip = (texts: Record<string, string>) => [
  {
    path: "a.zip",
    base64: Buffer.from(
      zipSync(Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, strToU8(text)]))),
    ).toString("base64"),
  },
];
const errorsOf = (texts: Record<string, string>) => {
  const { imported, findings } = readImport(files(texts));
  expect(imported).toBeNull();
  return findings.flatMap(({ level, message }) => (level === "error" ? [message] : []));
};

describe("an archive", () => {
  test("is unpacked without the folder that holds everything", () => {
    expect(unpack(zip({ "top/a.yaml": "a: 1", "top/b/c.md": "# c", "top/logo.png": "x" }))).toEqual([
      { path: "a.yaml", text: "a: 1" },
      { path: "b/c.md", text: "# c" },
    ]);
  });

  test("that grows too large is refused before it has", () => {
    const bomb = Object.fromEntries(
      Array.from({ length: 4 }, (_, n) => [`${n}.json`, " ".repeat(4 * 1024 * 1024)]),
    );
    expect(() => unpack(zip(bomb))).toThrow("larger than 10 MiB");
    expect(() => unpack(zip({ "a.json": " ".repeat(6 * 1024 * 1024) }))).toThrow("larger than 5 MiB");
  });

  test("with too many files is refused", () => {
    expect(() =>
      unpack(zip(Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`${n}.md`, "x"])))),
    ).toThrow("more than 500 files");
  });

  test.each(["../a.yaml", "/etc/passwd", "a/../../b", "C:/a.yaml", "a\\..\\b"])(
    "with the path %s is refused",
    (path) => {
      expect(() => unpack(zip({ [path]: "a: 1" }))).toThrow(/leads out|holds characters/);
      expect(errorsOf({ [path]: "a: 1" })[0]).toMatch(/leads out|holds characters/);
    },
  );

  test("that is damaged is refused in words", () => {
    const bytes = Buffer.from(zip({ "a.yaml": "a: 1".repeat(1000) })[0]?.base64 ?? "", "base64");
    bytes.fill(0xff, 40, 60);
    expect(() => unpack([{ path: "a.zip", base64: bytes.toString("base64") }])).toThrow("a.zip");
    expect(() =>
      unpack([{ path: "a.bin", base64: Buffer.from([0xff, 0xfe, 0x00]).toString("base64") }]),
    ).toThrow("no text in UTF-8");
  });
});

describe("a file", () => {
  test("whose aliases multiply is refused", () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let n = 1; n < 12; n++)
      lines.push(
        `a${n}: &a${n} [${Array(10)
          .fill(`*a${n - 1}`)
          .join(", ")}]`,
      );
    expect(errorsOf({ "agents.yaml": lines.join("\n") })[0]).toContain("aliases");
  });

  test("may use aliases and merges as people do", () => {
    const { imported } = readImport(
      files({
        "agents.yaml":
          "a: &base\n  role: Reader\n  goal: Read\n  backstory: Fast\nb:\n  <<: *base\n  role: Writer\n",
      }),
    );
    expect(imported?.roles.map(({ name, goals }) => [name, goals])).toEqual([
      ["Reader", ["Read"]],
      ["Writer", ["Read"]],
    ]);
  });

  test.each([
    ["a.json", `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`],
    ["a.yaml", `${"[".repeat(5_000)}${"]".repeat(5_000)}`],
    ["a.yaml", Array.from({ length: 400 }, (_, n) => `${" ".repeat(n)}a:`).join("\n")],
  ])("nested deeply is refused: %s", (path, text) => {
    expect(errorsOf({ [path]: text })[0]).toContain("nested");
  });

  test("a file that names __proto__ changes no prototype", () => {
    const text =
      '{"name": "F", "agents": {"a": {"role": "A", "goal": "G", "__proto__": {"polluted": 1}}, "__proto__": {"role": "P", "goal": "Q"}}, "tasks": [{"name": "constructor", "description": "{__proto__} {constructor}", "expected_output": "", "agent": "a"}]}';
    const { imported, findings } = readImport(files({ "crew.json": text }));
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(imported?.roles.map(({ name }) => name)).toEqual(["A"]);
    expect(findings.filter(({ message }) => message.includes("reserved word"))).not.toHaveLength(0);
  });

  test("larger than the limit is refused, also several together", () => {
    expect(errorsOf({ "a.json": `"${"x".repeat(10 * 1024 * 1024)}"` })[0]).toContain("larger than 5 MiB");
    const part = "x".repeat(4 * 1024 * 1024);
    expect(errorsOf({ "a.md": part, "b.md": part, "c.md": part })[0]).toContain("larger than 10 MiB");
  });

  test("loses what looks like a key, and says so", () => {
    const { imported, findings } = readImport(
      files({
        "agents.yaml":
          "a:\n  role: A\n  goal: Use sk-abcdefghijklmnopqrstuvwx\n  backstory: b\n  api_key: 0123456789abcdef\n",
      }),
    );
    expect(JSON.stringify(imported)).not.toMatch(/sk-abc|0123456789abcdef/);
    expect(findings.filter(({ message }) => message.includes("taken out")).map(({ line }) => line)).toEqual([
      3, 5,
    ]);
  });

  test("of which nothing is known is refused, and so is an empty one", () => {
    expect(errorsOf({ "a.json": '{"hello": 1}' })).toEqual([
      "Nothing in a.json is a workflow, crew, agent or role that Troupe knows.",
    ]);
    expect(errorsOf({ "": "  " })).toEqual(["The file is empty."]);
    expect(errorsOf({ "": "import os" })).toEqual([
      "Nothing in this text is a workflow, crew, agent or role that Troupe knows.",
    ]);
  });
});
