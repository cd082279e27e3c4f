import { defined } from "@/server/domain/base/defined";
import { isText, textsOf } from "@/server/domain/base/guards";
import { toId } from "@/server/domain/base/ids";
import { HIDDEN } from "@/server/domain/base/key-shapes";
import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { redact } from "@/server/secrets/redact";
import { writeText } from "./text-files";

/**
 * Entries that the admin can add by hand for tools of other systems: a file can't add a program or a server. Values of
 * environment variables, headers and defaults are left out, because they may be secrets.
 */

/** A tool's name as the operator's file takes it. */
export const declaredName = (name: string): string => toId(name).replaceAll(".", "_") || "tool";

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FUNCTION = /^[A-Za-z_][A-Za-z0-9_]{0,100}$/;

/** The entry of TROUPE_TOOLS_FILE, under `tools`, for a program; null if the tool doesn't say which. */
export function programEntry(name: string, tool: Raw): string | null {
  const program = programOf(tool);
  if (program === null) return null;
  const parameters = tool.parameters ?? tool.input_schema ?? tool.input;
  return entry({
    name: declaredName(name),
    ...program,
    description: (isText(tool.description) && tool.description.trim().slice(0, 4000)) || `Does ${name}.`,
    ...defined({
      input: parameters === undefined ? undefined : inputSchema(parameters),
      env: envNames(tool.env),
    }),
  });
}

function programOf({ path, function: own, source, command, script, image, args }: Raw): Raw | null {
  if (isText(path) && isText(own) && FUNCTION.test(own)) return { type: "python", path, function: own };
  // A Python function by its full name.
  const [, module, called] = isText(source) ? (/^([\w.]{1,300})\.(\w{1,100})$/.exec(source) ?? []) : [];
  if (module !== undefined && called !== undefined && FUNCTION.test(called))
    return { type: "python", path: `./${module.replaceAll(".", "/")}.py`, function: called };
  if (isText(image))
    return { type: "docker", image, ...defined({ args: args && withoutKeys(textsOf(args)) }) };
  const line = command ?? script ?? (isText(path) && own === undefined ? path : undefined);
  // No shell parses the words, so a line with its syntax is no command.
  const argv = isText(line)
    ? /["'`$|&;<>()\\*\n]/.test(line)
      ? []
      : line.trim().split(/ +/)
    : textsOf(line);
  return argv[0] ? { type: "script", command: withoutKeys([...argv, ...textsOf(args)]) } : null;
}

/** What to add for an MCP server: an entry of the operator's file for a process, else the settings of the Tools page. */
export function serverEntry(name: string, tool: Raw): string | null {
  const { command, args, env } = tool;
  const url = tool.server_url ?? tool.url;
  if (isText(command)) {
    const [program = "", ...own] = command.trim().split(/ +/);
    return entry({
      name: declaredName(name),
      command: program,
      args: withoutKeys([...own, ...textsOf(args)]),
      ...defined({ env: envNames(env) }),
    });
  }
  if (!isText(url) || !URL.canParse(url)) return null;
  const { protocol, host, hostname, pathname } = new URL(url);
  if (!/^https?:$/.test(protocol)) return null;
  const isNear = !hostname.includes(".") || /^[\d.]+$|\.(local|lan|internal)$/.test(hostname);
  const settings = [`name: ${declaredName(name)}`, `url: ${protocol}//${host}${pathname}`];
  return redact([...settings, ...(isNear ? [`TROUPE_MCP_ALLOWED_HOSTS=${host}`] : [])].join("\n"));
}

/** Its variables by name alone. */
function envNames(env: unknown): string[] | undefined {
  const names = (isRaw(env) ? Object.keys(env) : textsOf(env)).filter((name) => ENV_NAME.test(name));
  return names.length > 0 ? names : undefined;
}

const entry = (value: Raw): string => redact(writeText([value], "yaml"));

const SECRET_OPTION = /^--?[\w-]{0,60}(key|secret|password|passwd|token|auth)$/i;

/** The words of a command without the values of options that are named like secrets. */
export const withoutKeys = (argv: readonly string[]): string[] =>
  argv.map((word, at) => {
    const [option = "", ...value] = word.split("=");
    if (value.length > 0 && SECRET_OPTION.test(option)) return `${option}=${HIDDEN}`;
    return SECRET_OPTION.test(argv[at - 1] ?? "") ? HIDDEN : word;
  });

/** An address without its credentials and query; cut where it is no URL. */
export function plainAddress(url: string): string {
  if (!URL.canParse(url)) return (url.split(/[?#]/)[0] ?? "").slice(0, 200);
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`.slice(0, 200);
}

const TYPES: readonly (readonly [RegExp, Raw])[] = [
  [/dataframe/, { type: "array", items: { type: "object" } }],
  [/^(str|string|text|path)\b/, { type: "string" }],
  [/^(int|integer)\b/, { type: "integer" }],
  [/^(float|number|double|decimal)\b/, { type: "number" }],
  [/^bool/, { type: "boolean" }],
  [/^(list|array|tuple|set|series|sequence|iterable)\b/, { type: "array" }],
  [/^(dict|object|mapping|map|json)\b/, { type: "object" }],
];

/** A Python type as JSON Schema; any value if it has no equivalent. */
function typeSchema(type: unknown): Raw {
  const word = isText(type) ? type.toLowerCase().replace(/^(typing|numpy|np|pandas|pd)\./, "") : "";
  return TYPES.find(([pattern]) => pattern.test(word))?.[1] ?? {};
}

/** Parameters as a JSON Schema: one already, a list with names and types, or an object from names to types. */
function inputSchema(parameters: unknown): Raw {
  if (isRaw(parameters) && parameters.type === "object") return withoutValues(parameters);
  const named = Array.isArray(parameters)
    ? parameters.filter(isRaw).map((one): [string, Raw] => [isText(one.name) ? one.name : "", one])
    : Object.entries(isRaw(parameters) ? parameters : {}).map(([name, one]): [string, Raw] => [
        name,
        isRaw(one) ? one : { type: one },
      ]);
  const known = named.filter(([name]) => name !== "");
  const required = known.flatMap(([name, one]) => (one.required === true ? [name] : []));
  return {
    type: "object",
    properties: Object.fromEntries(
      known.map(([name, { type, description }]) => [
        name,
        {
          ...typeSchema(type),
          ...defined({ description: isText(description) ? description.trim() : undefined }),
        },
      ]),
    ),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** A schema without example values and defaults. */
function withoutValues(schema: Raw): Raw {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (["default", "example", "examples", "const"].includes(key) && !isRaw(value)) return [];
      const inner = (one: unknown) => (isRaw(one) ? withoutValues(one) : one);
      return [[key, Array.isArray(value) ? value.map(inner) : inner(value)]];
    }),
  );
}
