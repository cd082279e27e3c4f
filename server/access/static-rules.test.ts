import { readFileSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import ts from "typescript";
import { expect, test } from "vitest";
import { filesUnder, parsed } from "@/server/testing/sources";

// What the code must not do, read from its syntax trees. server/boundaries.test.ts says who may import whom and bans
// eval, markup around React and server actions; here is what takes more than a pattern to see.

const ROOT = path.resolve(import.meta.dirname, "../..");

const isTest = (file: string) => /\.test\.tsx?$|(^|\/)testing(\/|\.ts$)/.test(file);
const flat = (node: ts.Node, into: ts.Node[] = []): ts.Node[] => {
  into.push(node);
  ts.forEachChild(node, (child) => void flat(child, into));
  return into;
};
const files = [...["app", "components", "server", "db"].flatMap(filesUnder), "proxy.ts", "instrumentation.ts"]
  .filter((file) => /\.tsx?$/.test(file) && !isTest(file))
  .map(parsed);

/** Where a rule is broken, as "file:line what". Only files with one of the words that the rule is about are walked through. */
function findings(
  words: RegExp,
  rule: (node: ts.Node, file: string) => string | false | undefined,
): string[] {
  return files.flatMap(({ file, tree }) =>
    (words.test(tree.text) ? flat(tree) : []).flatMap((node) => {
      const what = rule(node, file);
      const { line } = what ? tree.getLineAndCharacterOfPosition(node.getStart(tree)) : { line: 0 };
      return what ? [`${file}:${line + 1} ${what}`] : [];
    }),
  );
}

/** The name that is called, also behind a dot: `a.b(...)` calls "b". */
function calledName(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return undefined;
  const { expression } = node;
  if (ts.isIdentifier(expression)) return expression.text;
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : undefined;
}

test("no data is evaluated as code", () => {
  const makers = new Set([
    "eval",
    "Function",
    "AsyncFunction",
    "GeneratorFunction",
    "runInThisContext",
    "runInNewContext",
    "runInContext",
    "compileFunction",
    "createRequire",
  ]);
  expect(
    findings(
      /\b(?:eval|\w*Function|runIn\w+|createRequire|require|import\(|setTimeout|setInterval)/,
      (node, file) => {
        const name = calledName(node);
        if (name && makers.has(name)) return `calls ${name}`;
        if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
          return !ts.isStringLiteral(node.arguments[0] ?? node) && "imports what a value names";
        if (name === "require") return !file.startsWith("scripts/") && "requires a module";
        // Timers with text are eval.
        if (name === "setTimeout" || name === "setInterval") {
          const [what] = (node as ts.CallExpression).arguments;
          return !!what && ts.isStringLiteralLike(what) && "runs a text later";
        }
        return false;
      },
    ),
  ).toEqual([]);
});

test("processes are started with argument lists, never through a shell", () => {
  const shells = new Set(["exec", "execSync", "execFile", "execFileSync", "spawnSync", "fork"]);
  const users = files
    .filter(({ tree }) => /from "(node:)?child_process"/.test(tree.text))
    .map(({ file }) => file);
  expect(users.filter((file) => !/^server\/tools\/(operator|mcp\/stdio)/.test(file))).toEqual([]);
  expect(
    findings(/child_process|\bshell\b/, (node, file) => {
      if (ts.isPropertyAssignment(node) && node.name.getText() === "shell")
        return node.initializer.kind !== ts.SyntaxKind.FalseKeyword && "asks for a shell";
      const name = calledName(node);
      return !!name && users.includes(file) && shells.has(name) && `calls ${name}`;
    }),
  ).toEqual([]);
});

test("only server/egress opens outbound connections, and model clients use its fetch", () => {
  expect(
    findings(/\bfetch\b|WebSocket|EventSource|XMLHttpRequest|OpenAI/, (node, file) => {
      if (!file.startsWith("server/") || file.startsWith("server/egress/")) return false;
      if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "fetch") {
        const isParameter = node.getSourceFile().text.includes("fetch:");
        return !isParameter && "calls the global fetch";
      }
      const name = calledName(node);
      if (name === "WebSocket" || name === "EventSource" || name === "XMLHttpRequest")
        return `opens a ${name}`;
      if (ts.isNewExpression(node) && name === "OpenAI") {
        const options = node.arguments?.[0]?.getText() ?? "";
        return !/\bfetch\b/.test(options) && "makes a client with a fetch of its own";
      }
      return false;
    }),
  ).toEqual([]);
});

test("browser code only makes requests to this server", () => {
  expect(
    findings(/\bfetch\b/, (node, file) => {
      if (file.startsWith("server/") || !ts.isCallExpression(node) || calledName(node) !== "fetch")
        return false;
      const [to] = node.arguments;
      if (!to) return false;
      const text = ts.isTemplateExpression(to) ? to.head.text : ts.isStringLiteralLike(to) ? to.text : "";
      return !/^\/(?:api|p)\//.test(text) && "fetches from elsewhere";
    }),
  ).toEqual([]);
});

test("no text is inserted as HTML, and no frame or script is created", () => {
  const properties = new Set(["innerHTML", "outerHTML", "srcdoc", "srcDoc", "dangerouslySetInnerHTML"]);
  const calls = new Set([
    "insertAdjacentHTML",
    "createContextualFragment",
    "write",
    "parseFromString",
    "createElement",
  ]);
  expect(
    findings(
      /HTML|srcdoc|iframe|object|embed|createContextualFragment|write|parseFromString|createElement/i,
      (node) => {
        if (
          (ts.isPropertyAccessExpression(node) || ts.isJsxAttribute(node) || ts.isPropertyAssignment(node)) &&
          properties.has(node.name.getText())
        )
          return `uses ${node.name.getText()}`;
        if (
          ts.isJsxOpeningLikeElement(node) &&
          ["iframe", "object", "embed"].includes(node.tagName.getText())
        )
          return `shows an ${node.tagName.getText()}`;
        const name = calledName(node);
        if (!name || !calls.has(name) || !ts.isCallExpression(node)) return false;
        const target = ts.isPropertyAccessExpression(node.expression)
          ? node.expression.expression.getText()
          : "";
        if (name === "write") return target === "document" && "writes into the document";
        if (name === "createElement") {
          const [tag] = node.arguments;
          return (
            target === "document" &&
            !!tag &&
            /script|iframe/.test(tag.getText()) &&
            `creates a ${tag.getText()}`
          );
        }
        return `calls ${name}`;
      },
    ),
  ).toEqual([]);
});

test("links and images use no javascript: or data: URLs", () => {
  expect(
    findings(/(?:javascript|data|vbscript):/i, (node) => {
      if (!ts.isJsxAttribute(node) || !["href", "src", "action", "formAction"].includes(node.name.getText()))
        return false;
      const { initializer } = node;
      const text = initializer && ts.isStringLiteral(initializer) ? initializer.text : "";
      return /^(?:javascript|data|vbscript):/i.test(text) && `leads to ${text}`;
    }),
  ).toEqual([]);
});

test("the app has no server actions", () => {
  expect(
    findings(
      /use server/,
      (node) =>
        ts.isExpressionStatement(node) &&
        ts.isStringLiteral(node.expression) &&
        node.expression.text === "use server" &&
        "offers a server action",
    ),
  ).toEqual([]);
});

test("no component opts out of the React compiler", () => {
  const isDirective = (text: string) => /^["']use no (?:memo|forget)["']$/.test(text);
  expect(
    findings(
      /use no (?:memo|forget)/,
      (node) => ts.isStringLiteral(node) && isDirective(node.getText()) && `says ${node.getText()}`,
    ),
  ).toEqual([]);
});

test("SQL is never assembled from values", () => {
  // These are given column names by the code beside them, never a value from outside.
  const runners = new Set(["prepare", "exec", "pragma", "raw"]);
  expect(
    findings(/\b(?:prepare|exec|pragma|raw)\b/, (node, file) => {
      if (!/^(server|db)\//.test(file)) return false;
      const name = calledName(node);
      if (
        !name ||
        !runners.has(name) ||
        !ts.isCallExpression(node) ||
        !ts.isPropertyAccessExpression(node.expression)
      )
        return false;
      // Regular expressions have an `exec` too.
      if (name === "exec" && !/lock|client|db|sqlite/i.test(node.expression.expression.getText()))
        return false;
      const [text] = node.arguments;
      return (
        !!text &&
        !ts.isStringLiteral(text) &&
        !ts.isNoSubstitutionTemplateLiteral(text) &&
        `${name} with a text that is put together`
      );
    }),
  ).toEqual([]);
});

test("no environment variable is published with NEXT_PUBLIC_", () => {
  expect(
    findings(
      /NEXT_PUBLIC_/,
      (node) => ts.isIdentifier(node) && node.text.startsWith("NEXT_PUBLIC_") && "goes into the bundle",
    ),
  ).toEqual([]);
});

test("every route passes its request to a guarded handler", () => {
  const routes = files.filter(({ file }) => /^app\/.*\/route\.ts$/.test(file));
  expect(routes.length).toBeGreaterThan(2);
  const handing = /\(await handlers\(\)\)\.(?:trpc|api|hook|form|offline|file|signIn|signOut)\(request/;
  expect(
    routes.filter(({ tree }) => !handing.test(tree.text)).map(({ file }) => file),
    "a route only calls a handler",
  ).toEqual([]);
});

test("errors that cross bundles are recognized by name", () => {
  const plain = new Map(
    files.flatMap(({ file, tree }) =>
      [...tree.text.matchAll(/class (\w+) extends Error\b/g)].map(([, name = ""]) => [name, file] as const),
    ),
  );
  const asks = /^(?:app|server\/(?:api|http-api|access))\//;
  expect(
    findings(/\binstanceof\b/, (node, file) => {
      if (!asks.test(file) || !ts.isBinaryExpression(node)) return false;
      if (node.operatorToken.kind !== ts.SyntaxKind.InstanceOfKeyword) return false;
      const from = plain.get(node.right.getText());
      return !!from && !asks.test(from) && `asks for ${node.right.getText()}, which is no namedError`;
    }),
  ).toEqual([]);
});

test("pages and layouts read no data", () => {
  const pages = files.filter(
    ({ file }) => /^app\/.*(?:page|layout|template|default)\.tsx$/.test(file) || file === "app/page.tsx",
  );
  const reads = pages.filter(({ tree }) => /@\/server\/(?:troupe|store|api|runner)|@\/db/.test(tree.text));
  expect(
    reads.map(({ file }) => file),
    "a page is a shell: its data comes through the guarded API",
  ).toEqual([]);
});

test("no regex in the code nests unbounded repeats", () => {
  // A repetition of what itself ends in a repetition: (a+)+, (a*)*, (a|b+)*, (x{2,})+
  const nested = /\((?:\?:)?[^()]*(?:[+*]|\{\d+,\d*\})\)(?:[+*]|\{\d+,\})/;
  expect(
    findings(
      nested,
      (node) => ts.isRegularExpressionLiteral(node) && nested.test(node.text) && `has ${node.text}`,
    ),
  ).toEqual([]);
});

test("packages with known vulnerabilities are at a fixed version or newer", () => {
  const lock = JSON.parse(readFileSync(path.join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version?: string }>;
  };
  const floors: Record<string, string> = {
    next: "16.3.8",
    react: "19.2.5",
    "react-dom": "19.2.5",
    "@trpc/server": "11.8.0",
    "better-sqlite3": "13.2.0",
    undici: "7.30.0",
    zod: "4.6.0",
    "ipaddr.js": "2.5.0",
    "@modelcontextprotocol/client": "2.4.0",
  };
  const below = Object.entries(floors).filter(
    ([name, floor]) => !isAtLeast(lock.packages[`node_modules/${name}`]?.version ?? "0", floor),
  );
  expect(below).toEqual([]);
  const sqlite = new Database(":memory:");
  expect(isAtLeast(sqlite.prepare("select sqlite_version()").pluck().get() as string, "3.51.3")).toBe(true);
  sqlite.close();
});

test("no dependency has a license with more obligations than Troupe's", () => {
  const lock = JSON.parse(readFileSync(path.join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, { license?: string }>;
  };
  const asksMore = Object.entries(lock.packages).filter(([, { license = "" }]) =>
    /GPL|SSPL|BUSL|CC-BY-(?:NC|SA)/.test(license),
  );
  expect(asksMore.map(([name, { license }]) => `${name}: ${license}`)).toEqual([]);
});

/** Compares versions such as 1.20.3, number by number. */
function isAtLeast(version: string, floor: string): boolean {
  const [have, want] = [version, floor].map((text) => text.split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (have?.[i] ?? 0) - (want?.[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
