import { writeFileSync } from "node:fs";
import path from "node:path";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { errorMessage } from "@/server/domain/base/guards";
import { FINDING_LEVELS, type Finding } from "@/server/domain/base/lenient-reader";
import { writeWorkflow } from "@/server/domain/graph/document/document";
import { capabilitiesOf } from "@/server/domain/library/capabilities";
import { isExecutable } from "@/server/domain/nodes";
import { writtenTests } from "@/server/domain/scenario/test-file";
import type { Imported } from "@/server/interop/import/format";
import type { ImportRead } from "@/server/interop/import/pipeline";
import { writeRoles } from "@/server/interop/role-files";
import { writeTeams } from "@/server/interop/team-files";
import { parseOptions, UsageError } from "./arguments";
import { calledFrom, callOf } from "./called";
import { capabilityLines } from "./output/capability-lines";
import { printable, printableJson, printableLine } from "./output/printable";
import type { Stdio } from "./output/stdio";
import { readImportAt, UnusableError } from "./read-path";

export const IMPORT_USAGE = `Previews files from Troupe or another framework, and converts them to a Troupe file.

  ${callOf("run")} import PATH [options]

  --answer ID=VALUE  Answer a question that the files leave open; repeatable
  --pick N           Choose one of several items in the files, counting from 1
  --save FILE        Save the result: a workflow as .json, crews or roles as .yaml or .json; never overwrites
  --json             Print everything as one JSON object

PATH is a file, a folder, a zip archive, or - for standard input. Nothing in the files is executed, resolved or fetched.
Exit code: 0 something to import, 2 nothing to import.
`;

const UNUSABLE = 2;

/** Shows an import in the terminal, and saves it as a file where that is asked for; answers the exit code. */
export async function importCommand(argv: readonly string[], stdio: Stdio): Promise<number> {
  try {
    return await showImport(argv, stdio);
  } catch (error) {
    if (error instanceof UsageError)
      stdio.err(`${printable(error.message)}\nSee ${callOf("run")} import --help.\n`);
    else if (error instanceof UnusableError) stdio.err(`${printableLine(error.message)}\n`);
    else throw error;
    return UNUSABLE;
  }
}

async function showImport(argv: readonly string[], stdio: Stdio): Promise<number> {
  const command = read(argv);
  if (!command) {
    stdio.out(IMPORT_USAGE);
    return 0;
  }
  const looked = await readImportAt(command.path, { answers: command.answers, pick: command.pick });
  const { imported } = looked;
  const capabilities = imported?.graph
    ? capabilitiesOf(imported.graph, [...imported.roles, ...builtinRoles])
    : [];
  if (command.json) {
    const { found, picked, findings } = looked;
    const shown = { ok: imported !== null, found, picked, ...imported, capabilities, findings };
    // What is not there is left out, as JSON does.
    stdio.out(`${printableJson(JSON.parse(JSON.stringify(shown)))}\n`);
  } else {
    const lines = linesOf(looked);
    if (imported?.graph)
      lines.push(
        "",
        "It would use:",
        ...capabilityLines(capabilities, imported.graph).map((line) => `  ${line}`),
      );
    stdio.out(`${lines.map(printableLine).join("\n")}\n`);
  }
  if (!imported) return UNUSABLE;
  if (command.save !== null) save(imported, command.save, stdio);
  return 0;
}

interface ImportCommand {
  path: string;
  answers: Record<string, string>;
  pick: number | undefined;
  save: string | null;
  json: boolean;
}

function read(argv: readonly string[]): ImportCommand | null {
  const { values, positionals } = parseOptions(argv, OPTIONS);
  if (values.help) return null;
  const [given, ...more] = positionals;
  if (given === undefined) throw new UsageError("Missing path: a file, a folder or a zip archive.");
  if (more.length > 0) throw new UsageError(`Unexpected argument "${more[0]}". Pass one path.`);
  const answers = Object.fromEntries(
    (values.answer ?? []).map((answer) => {
      const at = answer.indexOf("=");
      if (at < 1) throw new UsageError(`--answer ${answer}: use ID=VALUE.`);
      return [answer.slice(0, at), answer.slice(at + 1)];
    }),
  );
  const pick = values.pick === undefined ? undefined : Number(values.pick);
  if (pick !== undefined && !(Number.isInteger(pick) && pick >= 1))
    throw new UsageError("--pick must be a whole number of 1 or more.");
  return {
    path: given,
    answers,
    pick: pick === undefined ? undefined : pick - 1,
    save: values.save ?? null,
    json: values.json ?? false,
  };
}

const OPTIONS = {
  answer: { type: "string", multiple: true },
  pick: { type: "string" },
  save: { type: "string" },
  json: { type: "boolean" },
} as const;

const LEVEL_LABELS: Record<Finding["level"], string> = {
  error: "Errors",
  dropped: "Not imported",
  placeholder: "Needs input",
  changed: "Changed",
  kept: "Kept",
  info: "Notes",
};

function linesOf({ found, picked, imported, findings }: ImportRead): string[] {
  const part = picked === null ? undefined : found[picked];
  const lines = part ? [`${part.title ? `${part.title}: this` : "This"} is ${part.label}.`] : [];
  if (found.length > 1)
    lines.push(
      `These files contain ${found.length} items. Choose another one with --pick:`,
      ...found.map(({ title, label }, at) => `  ${at + 1}  ${title}, ${label}`),
    );
  if (imported) lines.push(...broughtLines(imported));
  for (const level of FINDING_LEVELS) {
    const list = findings.filter((finding) => finding.level === level);
    if (list.length > 0)
      lines.push(
        "",
        `${LEVEL_LABELS[level]}:`,
        ...list.flatMap((finding) => [
          findingLine(finding),
          ...(finding.snippet?.trimEnd().split("\n") ?? []).map((entry) => `      ${entry}`),
        ]),
      );
  }
  return lines;
}

function broughtLines({ graph, roles, crews, agents, tools, choices }: Imported): string[] {
  const counts = [
    ...(graph
      ? [
          [Object.values(graph.nodes).filter(isExecutable).length, "node"] as const,
          [graph.edges.length, "edge"] as const,
        ]
      : []),
    [roles.length, "role"] as const,
    [crews.length, "crew"] as const,
    [agents.length, "agent"] as const,
  ];
  const brought = counts.flatMap(([count, word]) =>
    count > 0 ? [`${count} ${word}${count === 1 ? "" : "s"}`] : [],
  );
  const missing = tools.flatMap(({ name, ours }) => (ours === undefined ? [name] : []));
  return [
    `It adds ${brought.join(", ")}.`,
    ...(missing.length > 0 ? [`Unavailable tools: ${missing.join(", ")}.`] : []),
    ...(choices.length > 0 ? ["", "Open questions (answer with --answer ID=VALUE):"] : []),
    ...choices.flatMap(({ id, question, options, value, isDetail }) =>
      isDetail
        ? [`  ${question}  ${id}=… (same options)`]
        : [
            `  ${question}`,
            ...options.map(
              (option) =>
                `    ${id}=${option.value}${option.value === value ? "  (unchanged)" : ""}  ${option.label}`,
            ),
          ],
    ),
  ];
}

export const findingLine = ({ level, at, file, line, message }: Finding): string => {
  const place = [file ? `${file}${line === undefined ? "" : `:${line}`}` : "", at].filter(Boolean).join(" ");
  return `  ${level === "error" ? "✗" : "·"} ${place ? `${place}: ` : ""}${message}`;
};

/** Writes what was read as a file of Troupe. Throws UnusableError where there is a file already. */
function save({ graph, name, roles, crews, agents, tests }: Imported, file: string, stdio: Stdio): void {
  const format = /\.ya?ml$/i.test(file) ? "yaml" : "json";
  if (graph && format === "yaml") throw new UsageError("Workflows are saved as JSON: --save FILE.json.");
  const text = graph
    ? writeWorkflow(graph, { flavour: "troupe", name, roles, tests: writtenTests(tests) })
    : crews.length + agents.length > 0
      ? writeTeams({ crews, agents, roles }, format)
      : writeRoles(roles, format);
  try {
    writeFileSync(path.resolve(calledFrom(), file), text, { flag: "wx" });
  } catch (error) {
    throw new UnusableError([`Can't write ${file}: ${errorMessage(error)}`]);
  }
  stdio.err(`${printableLine(`Saved ${file}.`)}\n`);
}
