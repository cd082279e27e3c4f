import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { nodeKinds } from "./domain/nodes";

// Who may import whom, with the reason that a person reads when a change breaks it. Types are free where noted:
// they vanish at build time and cannot carry code over a border.

const ROOT = path.resolve(import.meta.dirname, "..");
const PURE = /^(zod|croner|diff|@marcbachmann\/cel-js|liquidjs|yaml|jsonrepair)(\/|$)/;
const NETWORK = /^(undici|(node:)?(http|https|http2|net|tls|dns|dgram)(\/promises)?)$/;
const PROCESSES = /^(node:)?(child_process|worker_threads|vm|cluster)$/;

interface Import {
  /** The importing file and the import, both from the repository's root; packages keep their name. */
  from: string;
  to: string;
  typeOnly: boolean;
  /** The imported file is there before the importing one runs: neither types alone nor asked for later. */
  loads: boolean;
}
interface Rule {
  who: RegExp;
  /** What is refused, unless `but` matches it. */
  refuses: RegExp;
  but?: RegExp;
  allowsTypes?: boolean;
  why: string;
}

const RULES: Rule[] = [
  {
    who: /^server\/domain\//,
    refuses: /./,
    but: new RegExp(`^server/domain/|${PURE.source}`),
    why: "server/domain is shared with the browser and replayed after a crash: only itself and pure libraries",
  },
  {
    who: /^db\//,
    refuses: /^(server|components|app)\//,
    why: "db holds tables and knows nobody; server/store turns its rows into domain objects",
  },
  {
    who: /^(?!db\/|server\/(?:store\/|access\/boot|cli\/))/,
    refuses: /^better-sqlite3/,
    allowsTypes: true,
    why: "databases are opened in db; the store copies them, the boot locks the data folder, and the commands read them",
  },
  { who: /^server\//, refuses: /^(components|app)\//, why: "the server does not know its screens" },
  {
    who: /^server\/(?!store\/|services\.ts|[a-z-]+\/current\.ts|cli\/)/,
    refuses: /^db\/(client|schema)/,
    allowsTypes: true,
    why: "all SQL lives in server/store; services.ts, current.ts and the command line open the database once and hand it down",
  },
  {
    who: /^server\/runner\//,
    refuses: /^server\/(store|api|access|http-api)\//,
    allowsTypes: true,
    why: "the runner gets its store as an argument, so that it runs on any store",
  },
  {
    who: /^server\/operations\//,
    refuses: /^server\/(api|http-api)\/|^@trpc\//,
    but: /^@trpc\/server$/,
    why: "an operation knows neither tRPC nor HTTP: both only expose it",
  },
  {
    who: /^server\/access\//,
    refuses: /^server\/(api|http-api|operations)\//,
    why: "who is asking is known before what is asked",
  },
  {
    who: /^server\/(llm|egress)\//,
    refuses: /^server\/(runner|store|api|access|http-api)\//,
    allowsTypes: true,
    why: "models and the network know the domain only, not who uses them",
  },
  {
    who: /^server\/tools\//,
    refuses: /^server\/(runner|store|api|access|http-api)\//,
    allowsTypes: true,
    why: "a tool reaches only what it was handed; who calls it and what is kept is decided above it",
  },
  {
    who: /^server\/notices\//,
    refuses: /^server\/(runner|api|access|http-api|operations)\//,
    allowsTypes: true,
    why: "a notice knows where it goes and what waits, and nothing of runs, so that no run waits for it",
  },
  {
    who: /^server\/(?!notices\/email\.ts)/,
    refuses: /^nodemailer/,
    why: "server/notices/notifier.ts is the only place that sends mail, over connections of server/egress",
  },
  {
    who: /^server\/store\//,
    refuses: /^server\/(runner|api|http-api|llm)\//,
    allowsTypes: true,
    why: "the store turns rows into objects; what is done with them happens above it",
  },
  {
    // The workers' port is one that others call.
    who: /^server\/(?!egress\/|testing\/|cluster\/internal-api\.ts)/,
    refuses: NETWORK,
    allowsTypes: true,
    why: "server/egress is the only place that opens outbound connections",
  },
  {
    // The sandbox ends code that never ends, by its thread, and so are imports that take too long; the watchdog sees from
    // its own when the server's stands still; the other two start what the operator's file declares.
    who: /^(server\/(?!(tools\/(sandbox|operator|mcp\/stdio)|store\/watchdog|interop\/import\/(off-)?thread)[/.])|app\/|components\/)/,
    refuses: PROCESSES,
    why: "only the sandbox, imports and the watchdog start threads, and only the operator's tools start processes",
  },
  {
    who: /^server\/(tools\/sandbox\/|store\/watchdog\.|interop\/import\/(off-)?thread\.)/,
    refuses: /^(node:)?(child_process|vm|cluster)$/,
    why: "the sandbox, imports and the watchdog start threads, and no processes",
  },
  {
    who: /^server\/tools\/(operator|mcp)\//,
    refuses: /^(node:)?(worker_threads|vm|cluster)$/,
    why: "the operator's tools are processes of their own",
  },
  {
    who: /^server\/(?!tools\/mcp\/)/,
    refuses: /^@modelcontextprotocol\//,
    why: "server/tools/mcp is the only place that speaks MCP",
  },
  {
    who: /^server\/tools\/mcp\/(?!stdio\.ts)/,
    refuses: /^@modelcontextprotocol\/client\/stdio/,
    why: "processes of MCP servers are started in one place, from the operator's file",
  },
  {
    who: /^(?!packages\/engine-restate\/)/,
    refuses: /^@restatedev\//,
    why: "packages/engine-restate is the only place that speaks to Restate by its SDK, which the default installation does not have",
  },
  {
    who: /^(app|components|db|server\/(?!cluster\/))/,
    refuses: /^packages\//,
    allowsTypes: true,
    why: "whoever did not install the engine's package starts without it; only a worker loads it, by server/cluster",
  },
  {
    who: /^packages\//,
    refuses: /^(app|components|db|server\/(?!cluster\/|runner\/|domain\/))/,
    allowsTypes: true,
    why: "the engine's package carries out what the runner gives it, and tells the server over HTTP",
  },
  {
    who: /^components\/ui\//,
    refuses: /^(server|db|app|components)\//,
    but: /^components\/ui\//,
    why: "components/ui are generic building blocks: they import nothing of ours",
  },
  { who: /^components\//, refuses: /^(db|app)\//, why: "components run in the browser" },
  {
    who: /^components\//,
    refuses: /^server\//,
    but: /^server\/domain\//,
    allowsTypes: true,
    why: "the browser may run server/domain only; of server/api it may know the types",
  },
  {
    who: /^components\//,
    refuses: /^server\/(?!api\/|domain\/)/,
    why: "of the server, the browser knows server/domain and the types of server/api",
  },
  {
    who: /^app\//,
    refuses: /^(db|server)\//,
    but: /^server\/(domain|api|access|http-api|handlers|services|settings|limits|log|docs)/,
    why: "a route fetches and hands over; it reaches the server through server/handlers and server/access",
  },
];

const sources = (dir: string): string[] =>
  readdirSync(path.join(ROOT, dir), { withFileTypes: true }).flatMap((entry) => {
    const at = path.posix.join(dir, entry.name);
    if (entry.name === "node_modules") return [];
    return entry.isDirectory() ? sources(at) : /\.tsx?$/.test(entry.name) ? [at] : [];
  });
const isTest = (file: string) => /\.test\.tsx?$|\/testing(\/|\.tsx?$)/.test(file);
const all = ["app", "components", "server", "db", "packages"].flatMap(sources);
const product = all.filter((file) => !isTest(file));
const text = new Map(all.map((file) => [file, readFileSync(path.join(ROOT, file), "utf8")]));

function importsOf(file: string): Import[] {
  const found = (text.get(file) ?? "").matchAll(
    /^\s*(?:import|export)\s+(type\s)?([^;"']*?\bfrom\s*)?["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']\s*\)/gm,
  );
  return [...found].map(([, type, names, fixed, lazy]) => {
    const target = fixed ?? lazy ?? "";
    const to = target.startsWith("@/")
      ? target.slice(2)
      : target.startsWith(".")
        ? path.posix.join(path.posix.dirname(file), target)
        : target;
    const listed = names
      ?.match(/^\{([^}]*)\}\s*from\s*$/)?.[1]
      ?.split(",")
      .map((name) => name.trim())
      .filter(Boolean);
    return {
      from: file,
      to,
      loads: !type && fixed !== undefined,
      typeOnly: !!type || (!!listed && listed.length > 0 && listed.every((name) => name.startsWith("type "))),
    };
  });
}

test("every import respects the boundaries", () => {
  const broken = product
    .flatMap(importsOf)
    .flatMap((link) =>
      RULES.filter(
        ({ who, refuses, but, allowsTypes }) =>
          who.test(link.from) &&
          refuses.test(link.to) &&
          !but?.test(link.to) &&
          !(allowsTypes && link.typeOnly),
      ).map(({ why }) => `${link.from} imports ${link.to}: ${why}.`),
    );
  expect(broken).toEqual([]);
});

test("the default installation contains no Restate and no workspaces", () => {
  const installed = ["package.json", "package-lock.json"].map((file) =>
    readFileSync(path.join(ROOT, file), "utf8"),
  );
  expect(installed.filter((file) => file.includes("restate"))).toEqual([]);
  expect(JSON.parse(installed[0] ?? "")).not.toHaveProperty("workspaces");
  const own = readFileSync(path.join(ROOT, "packages/engine-restate/package.json"), "utf8");
  expect(JSON.parse(own)).toMatchObject({
    private: true,
    dependencies: { "@restatedev/restate-sdk": expect.stringMatching(/^\d+\.\d+\.\d+$/) },
  });
});

/** Rooms that lie above each other: each may import itself and those before it, types too. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  server: [
    "domain",
    "limits",
    "settings",
    "secrets",
    "log",
    "docs",
    "egress",
    "llm",
    "templates",
    "interop",
    "store",
    "access",
    "tools",
    "notices",
    "runner",
    "triggers",
    "scratch-tools",
    "cluster",
    "operations",
    "services",
    "api",
    "http-api",
    "handlers",
    "boot",
    "cli",
    "conformance",
  ],
  "server/domain": [
    "base",
    "regex",
    "schema",
    "text",
    "tool",
    "model",
    "agent",
    "errors",
    "crew",
    "nodes",
    "graph",
    "library",
    "run",
    "scenario",
    "problems",
    "trigger",
  ],
  components: [
    "ui",
    "trpc",
    "page",
    "display",
    "forms",
    "import-export",
    "canvas",
    "library",
    "run",
    "scenario",
    "triggers",
    "inbox",
    "editor",
    "workflows",
    "settings",
    "docs",
    "shell",
  ],
};

test("every module imports only from lower layers", () => {
  const broken = Object.entries(LAYERS).flatMap(([above, rooms]) => {
    const roomOf = (file: string) =>
      file.startsWith(`${above}/`)
        ? file
            .slice(above.length + 1)
            .split("/")[0]
            ?.replace(/\.tsx?$/, "")
        : undefined;
    return product.flatMap(importsOf).flatMap(({ from, to }) => {
      const [own, other] = [roomOf(from), roomOf(to)];
      if (own === undefined) return [];
      if (!rooms.includes(own))
        return [`${from}: ${above} has no room "${own}"; say in LAYERS where it lies.`];
      return other !== undefined && rooms.indexOf(other) > rooms.indexOf(own)
        ? [`${from} imports ${to}: ${other} lies above ${own}.`]
        : [];
    });
  });
  expect([...new Set(broken)]).toEqual([]);
});

test("the secret and model modules can't reach the browser", () => {
  const open = ["db/client.ts", "server/services.ts"].filter(
    (file) => text.has(file) && !text.get(file)?.includes('import "server-only"'),
  );
  expect(open, 'these need `import "server-only"`').toEqual([]);
});

test("files and folders are named after their content", () => {
  const style =
    /^(?:[a-z0-9]+(?:-[a-z0-9]+)*|\[{1,2}(?:\.\.\.)?[a-z_]+\]{1,2}|\([a-z-]+\))(?:\.(?:test|d|frozen|property))?(?:\.tsx?)?$/;
  const vague = /(?:^|\/)(?:lib|utils?|helpers?|types|common|hooks|misc|shared)(?:\/|\.tsx?$)/;
  expect(
    all.filter((file) => file.split("/").some((part) => !style.test(part))),
    "file names are kebab-case",
  ).toEqual([]);
  expect(
    // The address of webhooks.
    all.filter((file) => vague.test(file) && !file.startsWith("app/hooks/")),
    "say what is in it",
  ).toEqual([]);
});

/** Files that make patterns from text, and why the text is none of a stranger's. */
const OWN_PATTERNS: Readonly<Record<string, string>> = {
  "server/secrets/redact.ts": "secrets, with every sign escaped",
  "server/conformance/stage.ts": "roles of tests",
  "server/domain/text/pattern-validation.ts":
    "only reads whether it is a pattern; nothing is searched with it",
  "server/domain/regex/syntax.ts": "the name of one Unicode property, tried on one character at a time",
  "server/llm/capabilities/adapt.ts": "names that stand in the code",
  "server/llm/limits/prices.ts": "patterns of the table of prices that comes with the package",
  "server/llm/tool-calls/text-calls.ts": "parts that stand in the code",
  "server/llm/tool-calls/text-protocol.ts": "parts that stand in the code",
  "server/runner/bisect/names.ts": "names of calls and files, with every sign escaped",
  "server/tools/sandbox/matches.ts": "runs in the sandbox, where a search that never ends is stopped",
  "components/forms/fields/cel-rows.ts": "parts that stand in the code",
};

test("untrusted schemas and patterns are only used in their own modules", () => {
  const code = (file: string) => (text.get(file) ?? "").replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, "");
  expect(
    product.filter((file) => /\bfromJSONSchema\b|["'](?:ajv|@cfworker\/json-schema)["']/.test(code(file))),
    "server/domain/schema checks by JSON Schema",
  ).toEqual([]);
  expect(
    product.filter((file) => /\bRegExp\(/.test(code(file)) && !Object.hasOwn(OWN_PATTERNS, file)),
    "server/domain/regex runs patterns",
  ).toEqual([]);
  const idle = Object.keys(OWN_PATTERNS).filter((file) => !/\bRegExp\(/.test(code(file)));
  expect(idle, "removed needed").toEqual([]);
});

test("no text is executed as code, and no markup bypasses React", () => {
  const banned: [RegExp, string][] = [
    [/\beval\s*\(|\bnew Function\b|\bFunction\s*\(\s*["'`]/, "text would run as code"],
    [/\bimport\(\s*(?!["'])[^)]/, "a module name would come from data"],
    [/dangerouslySetInnerHTML|\.innerHTML\s*=|document\.write\(/, "text would become markup"],
    [/^\s*["']use server["']/m, "server actions would be a second door beside the guarded ones"],
    [/\bsql\.raw\(/, "SQL would be glued together from text"],
    [/:\s*any\b|\bas any\b|<any>/, "the compiler would stop checking"],
  ];
  // Comments may name what the code must not do.
  const code = (file: string) => (text.get(file) ?? "").replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, "");
  const hits = product.flatMap((file) =>
    banned.filter(([pattern]) => pattern.test(code(file))).map(([, why]) => `${file}: ${why}.`),
  );
  expect(hits).toEqual([]);
});

/** The strongly connected parts of more than one file, or with a file that imports itself (Tarjan). */
function cyclesIn(importsOfFile: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const number = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): number => {
    number.set(file, number.size);
    let lowest = number.get(file)!;
    stack.push(file);
    const next = importsOfFile.get(file) ?? [];
    for (const to of next)
      if (!number.has(to)) lowest = Math.min(lowest, visit(to));
      else if (stack.includes(to)) lowest = Math.min(lowest, number.get(to)!);
    if (lowest === number.get(file)) {
      const part = stack.splice(stack.indexOf(file));
      if (part.length > 1 || next.includes(file)) cycles.push(part);
    }
    return lowest;
  };
  for (const file of importsOfFile.keys()) if (!number.has(file)) visit(file);
  return cycles;
}

/** One way round through a strongly connected part, as `a > b > a`. */
function wayRound(part: readonly string[], importsOfFile: ReadonlyMap<string, readonly string[]>): string {
  const [first = ""] = part;
  const cameFrom = new Map<string, string>();
  const open = [first];
  for (const file of open)
    for (const to of importsOfFile.get(file) ?? []) {
      if (to === first) {
        const way = [file];
        for (let at = file; at !== first; ) {
          at = cameFrom.get(at) ?? first;
          way.unshift(at);
        }
        return [...way, first].join(" > ");
      }
      if (!part.includes(to) || cameFrom.has(to)) continue;
      cameFrom.set(to, file);
      open.push(to);
    }
  return part.join(", ");
}

/** The file that an import means; undefined for packages. */
const known = new Set(all);
const fileOf = (to: string) =>
  [to, `${to}.ts`, `${to}.tsx`, `${to}/index.ts`, `${to}/index.tsx`].find((path) => known.has(path));

test("no files import each other in a cycle, in values, types or tests", () => {
  const importsOfFile = new Map(
    all.map((file) => [file, importsOf(file).flatMap(({ to }) => fileOf(to) ?? [])]),
  );
  expect([...importsOfFile.values()].flat().length, "imports are found").toBeGreaterThan(1000);
  expect(
    cyclesIn(importsOfFile).map((part) => wayRound(part, importsOfFile)),
    "move what both need into a file of its own",
  ).toEqual([]);
});

/** The way from a file to the first one that imports such a package as soon as it loads; null where there is none. */
function wayTo(start: string, isMeant: (to: string) => boolean): string[] | null {
  const cameFrom = new Map<string, string | null>([[start, null]]);
  for (const file of cameFrom.keys())
    for (const { to, loads } of importsOf(file)) {
      if (!loads) continue;
      const found = fileOf(to);
      if (found !== undefined && !cameFrom.has(found)) cameFrom.set(found, file);
      if (!isMeant(to)) continue;
      const way = [to];
      for (let at: string | null = file; at !== null; at = cameFrom.get(at) ?? null) way.unshift(at);
      return way;
    }
  return null;
}

test.each(["components/editor/workflow-editor.tsx", "components/shell/shell.tsx", "components/trpc.tsx"])(
  "%s loads without schema and expression libraries, which load with the canvas",
  (file) => {
    expect(wayTo(file, (to) => /^(zod|@marcbachmann\/cel-js|yaml|diff)(\/|$)/.test(to))).toBeNull();
  },
);

test("an import chain is found through values, but not through types", () => {
  expect(wayTo("server/domain/nodes/schemas.ts", (to) => to === "zod")).toEqual([
    "server/domain/nodes/schemas.ts",
    "zod",
  ]);
  expect(wayTo("server/domain/nodes/index.ts", (to) => to === "zod")).toBeNull();
});

test("an import cycle is named by one of its paths", () => {
  const imports = new Map([
    ["a", ["b", "d"]],
    ["b", ["c"]],
    ["c", ["a"]],
    ["d", []],
    ["e", ["e"]],
  ]);
  expect(cyclesIn(imports).map((part) => wayRound(part, imports))).toEqual(["a > b > c > a", "e > e"]);
});

test("code asks a node kind's declaration for its properties and never compares its name", () => {
  const kinds = nodeKinds
    .map(({ type }) => type)
    // A name that is an ordinary word, or a breakpoint's, says nothing unless it stands beside `node_type`.
    .filter((type) => type.includes("_") && type !== "tool_call")
    .join("|");
  const byName = new RegExp(
    [
      /\bnode_type\s*[!=]==?\s*["'`]|["'`]\s*[!=]==?\s*[\w.?]*\bnode_type\b|switch\s*\([^)]*\bnode_type\b/
        .source,
      `[!=]==?\\s*["'\`](${kinds})["'\`]|["'\`](${kinds})["'\`]\\s*[!=]==?|\\bcase ["'\`](${kinds})["'\`]`,
    ].join("|"),
  );
  expect(
    product.filter((file) => !file.startsWith("server/domain/nodes/") && byName.test(text.get(file) ?? "")),
    "declare it in server/domain/nodes/define.ts and ask with isAgentNode, isCrewNode, isRouterNode, usesOf or getNodeKind",
  ).toEqual([]);
});
