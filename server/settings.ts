import { z } from "zod";
import type { InstallationRules } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import { namedError } from "@/server/domain/base/named-error";

/** The environment, or what stands for it in a test. */
export type Env = Readonly<Record<string, string | undefined>>;

const Loopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Whether an address is reachable from this machine only. */
export const isLoopback = (host: string) => Loopback.test(host.replace(/^\[|\]$/g, ""));

const url = (what: string) =>
  z.url({ protocol: /^https?$/, error: `${what} must be a URL such as https://example.org` });

const count = (name: string, most: number) => {
  const error = `${name} must be a whole number from 1 to ${most.toLocaleString("en")}`;
  return z.coerce.number({ error }).int(error).min(1, error).max(most, error);
};

const port = (name: string) => {
  const error = `${name} must be a number from 1 to 65535`;
  return z.coerce.number({ error }).int(error).min(1, error).max(65_535, error);
};

/**
 * The single definition of all environment variables, each optional. docs/settings.md is generated from it, and a test fails
 * if that file is stale. scripts/start.mjs checks PORT and HOST itself, before anything is installed.
 */
export const Settings = z.object({
  PORT: port("PORT").default(3000).describe("Port to listen on"),
  HOST: z
    .string()
    .default("127.0.0.1")
    .describe("Address to listen on. Any non-local address requires TROUPE_PASSWORD"),
  TROUPE_DATA_DIR: z.string().default("./data").describe("Data folder"),
  TROUPE_ROLES_DIR: z
    .string()
    .optional()
    .describe("Folder with role files (YAML, JSON or Markdown). Default: `roles` in the data folder"),
  TROUPE_PASSWORD: z
    .string()
    .min(8, "TROUPE_PASSWORD must have at least 8 characters")
    .optional()
    .describe("Password required to sign in"),
  TROUPE_START_LINK: z
    .stringbool({ error: "TROUPE_START_LINK must be 1 or 0" })
    .default(false)
    .describe("1: require the one-time link printed at startup, for machines that several people share"),
  TROUPE_PUBLIC_URL: url("TROUPE_PUBLIC_URL")
    .optional()
    .describe("Address people use when Troupe runs behind a proxy, for example https://troupe.example.org"),
  TROUPE_API_TOKEN: z
    .string()
    .min(16, "TROUPE_API_TOKEN must have at least 16 characters")
    .optional()
    .describe("Token for the HTTP API, in addition to those created in Settings"),
  TROUPE_SECRET_KEY: z
    .string()
    .optional()
    .describe(
      "Base64-encoded 32-byte key that encrypts stored secrets. Default: a key file in the data folder",
    ),
  OPENAI_API_KEY: z
    .string()
    .optional()
    .describe("Adds OpenAI, or the service at OPENAI_BASE_URL, as a model provider"),
  OPENAI_BASE_URL: url("OPENAI_BASE_URL")
    .optional()
    .describe("Base URL of another OpenAI-compatible service, for example http://127.0.0.1:11434/v1"),
  OPENAI_MODEL: z.string().optional().describe("That provider's model for roles that don't name one"),
  LLM_ALLOWED_HOSTS: z
    .string()
    .optional()
    .describe(
      "Model servers on a private network that Troupe may connect to, for example 192.168.1.20:11434, gpu.lan. This machine and the internet are always allowed",
    ),
  TROUPE_ENABLE_CODE: z
    .stringbool({ error: "TROUPE_ENABLE_CODE must be 1 or 0" })
    .default(false)
    .describe("1: enable custom JavaScript tools and the code interpreter, in a sandbox"),
  TROUPE_TOOLS_FILE: z
    .string()
    .optional()
    .describe(
      "YAML or JSON file that declares scripts, Python functions, containers and MCP servers as tools; see server/tools/operator/README.md",
    ),
  TROUPE_MCP_ALLOWED_HOSTS: z
    .string()
    .optional()
    .describe(
      "MCP servers on this machine or on a private network that Troupe may connect to, for example localhost:8080, tools.lan. The internet is always allowed",
    ),
  TROUPE_NOTICE_ALLOWED_HOSTS: z
    .string()
    .optional()
    .describe(
      "Webhooks and mail servers on this machine or on a private network that notifications may go to, for example localhost:8025, mail.lan. The internet is always allowed",
    ),
  TROUPE_CONFIRMATION: z
    .enum(["never", "risky", "always"], { error: "TROUPE_CONFIRMATION must be never, risky or always" })
    .default("never")
    .describe(
      "Minimum approval policy for tool calls; runs and roles can only be stricter. risky: ask before calls of high or unknown risk",
    ),
  TROUPE_ANSWER_HOURS: count("TROUPE_ANSWER_HOURS", 8760)
    .default(168)
    .describe(
      "Hours a question stays open unless it has its own deadline; a reminder is sent after half that time. Applies to new runs",
    ),
  TROUPE_DELEGATE_TOOLS: z
    .enum(["own", "shared"], { error: "TROUPE_DELEGATE_TOOLS must be own or shared" })
    .default("own")
    .describe(
      "own: delegates keep their role's tools unless the crew says otherwise. shared: they get only tools that both can use, regardless of the crew's setting",
    ),
  TROUPE_ALLOWED_DESTINATIONS: z
    .string()
    .optional()
    .describe(
      "Hosts, email addresses and accounts that agents may send to without approval, even after reading untrusted content, for example api.example.org, team@example.org. After a restart, a change also applies to runs in progress",
    ),
  TROUPE_MAX_RUNS: count("TROUPE_MAX_RUNS", 1000)
    .default(16)
    .describe("Maximum concurrent runs. Runs that wait for people or timers don't count"),
  TROUPE_MAX_QUEUED: count("TROUPE_MAX_QUEUED", 100_000)
    .default(1000)
    .describe("Maximum queued runs. More are rejected with status 429"),
  TROUPE_MAX_STREAMS: count("TROUPE_MAX_STREAMS", 1000)
    .default(24)
    .describe("Maximum event streams per API token or browser session"),
  TROUPE_KEEP_RUNS_DAYS: count("TROUPE_KEEP_RUNS_DAYS", 36_500)
    .optional()
    .describe("Deletes runs this many days after they end, with their files, unless Settings says otherwise"),
  TROUPE_KEEP_RUNS: count("TROUPE_KEEP_RUNS", 10_000_000)
    .optional()
    .describe("Number of finished runs to keep, newest first, unless Settings says otherwise"),
  TROUPE_ENGINE: z
    .enum(["embedded", "restate"], { error: "TROUPE_ENGINE must be embedded or restate" })
    .default("embedded")
    .describe(
      "Where runs execute. embedded: on this server. restate: on workers, over Restate; requires TROUPE_SECRET_KEY and TROUPE_WORKER_TOKEN",
    ),
  TROUPE_RESTATE_INGRESS: url("TROUPE_RESTATE_INGRESS")
    .optional()
    .describe(
      "Restate's ingress URL. Default: http://127.0.0.1:8080. With TROUPE_ENGINE=embedded, lets runs that are still executing there finish",
    ),
  TROUPE_RESTATE_ADMIN: url("TROUPE_RESTATE_ADMIN")
    .default("http://127.0.0.1:9070")
    .describe("Restate's admin URL"),
  TROUPE_RESTATE_IDENTITY: z
    .string()
    .regex(
      /^publickeyv1_[1-9A-HJ-NP-Za-km-z]{30,60}$/,
      "TROUPE_RESTATE_IDENTITY must be a Restate public key, which starts with publickeyv1_",
    )
    .optional()
    .describe(
      "Public key with which workers verify that a request comes from Restate. Required for workers on a non-local address",
    ),
  TROUPE_RESTATE_NODE_PORT: port("TROUPE_RESTATE_NODE_PORT")
    .default(5122)
    .describe("npm run engine: port for traffic between Restate nodes"),
  TROUPE_BALANCER_PORT: port("TROUPE_BALANCER_PORT")
    .default(9080)
    .describe("npm run engine: port where Restate reaches all workers at one address"),
  TROUPE_WORKERS: z
    .string()
    .optional()
    .describe(
      "npm run engine: addresses of workers, for example 10.0.0.5:9081, 10.0.0.6:9081. Default: ask the server",
    ),
  TROUPE_INTERNAL_PORT: port("TROUPE_INTERNAL_PORT")
    .default(3010)
    .describe("Port for workers, open while TROUPE_ENGINE is restate or workers are still finishing runs"),
  TROUPE_INTERNAL_HOST: z
    .string()
    .default("127.0.0.1")
    .describe(
      "Address for TROUPE_INTERNAL_PORT. Any non-local address requires TROUPE_SECRET_KEY and TROUPE_WORKER_TOKEN",
    ),
  TROUPE_WORKER_TOKEN: z
    .string()
    .min(32, "TROUPE_WORKER_TOKEN must have at least 32 characters")
    .regex(
      /^[\x21-\x7e]*$/,
      "TROUPE_WORKER_TOKEN must contain only printable ASCII characters, without spaces",
    )
    .optional()
    .describe("Secret shared by workers and server; `openssl rand -hex 32` generates one"),
  TROUPE_CONTROL_URL: url("TROUPE_CONTROL_URL")
    .default("http://127.0.0.1:3010")
    .describe("Worker: URL of the server's port for workers. Default: this machine at TROUPE_INTERNAL_PORT"),
  TROUPE_WORKER_PORT: port("TROUPE_WORKER_PORT")
    .default(9081)
    .describe("Worker: port to listen on for Restate"),
  TROUPE_WORKER_HOST: z
    .string()
    .default("127.0.0.1")
    .describe(
      "Worker: address for TROUPE_WORKER_PORT. Any non-local address requires TROUPE_RESTATE_IDENTITY",
    ),
  TROUPE_WORKER_RUNS: count("TROUPE_WORKER_RUNS", 1000)
    .default(64)
    .describe("Worker: maximum concurrent runs"),
  TROUPE_WORKER_NAME: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
      "TROUPE_WORKER_NAME must contain only letters, digits, dots and hyphens (at most 63)",
    )
    .optional()
    .describe("Worker: display name. Default: the machine's name and the port"),
  TROUPE_WORKER_LABELS: z
    .string()
    .regex(
      /^\s{0,9}(?:[A-Za-z0-9][A-Za-z0-9._:-]{0,62}\s{0,9}(?:,\s{0,9}|$)){0,64}$/,
      "TROUPE_WORKER_LABELS must be words separated by commas, for example gpu, eu-west",
    )
    .optional()
    .describe(
      "Worker: labels such as gpu, eu-west. Tools in TROUPE_TOOLS_FILE with one of them (worker_label) run there",
    ),
  TROUPE_OFFLINE_SPEED: z.coerce
    .number({ error: "TROUPE_OFFLINE_SPEED must be a number, 0 for no delays" })
    .min(0)
    .max(100)
    .default(1)
    .describe("Speed of the offline demo model: 2 is twice as fast, 0 answers immediately"),
});
export type Settings = z.infer<typeof Settings>;

/** Invalid settings, as a message for the person who started Troupe. */
export class SettingsError extends namedError("SettingsError") {
  /** sysexits.h: a configuration error. */
  readonly exitCode = 78;
}

/** Reads the environment; an empty value counts as none. Throws SettingsError. */
export function readSettings(env: Env = process.env): Settings {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""),
  );
  const read = Settings.safeParse(given);
  if (!read.success)
    throw new SettingsError(read.error.issues.map(({ message, path }) => sentence(message, path)).join("\n"));
  if (!isLoopback(read.data.HOST) && !read.data.TROUPE_PASSWORD)
    throw new SettingsError(
      `HOST=${read.data.HOST} would let other machines in without a password. Set TROUPE_PASSWORD as well.`,
    );
  const unfit = clusterUnfit(read.data);
  if (unfit) throw new SettingsError(unfit);
  return read.data;
}

/** Why the settings of a server with remote workers contradict each other; null if they don't. */
function clusterUnfit(settings: Settings): string | null {
  const missing = missingKeys(settings);
  if (missing === null) return null;
  if (settings.TROUPE_ENGINE === "restate")
    return `TROUPE_ENGINE=restate requires ${missing}: keys are sent to workers encrypted, and workers have to authenticate.`;
  return isLoopback(settings.TROUPE_INTERNAL_HOST)
    ? null
    : `TROUPE_INTERNAL_HOST=${settings.TROUPE_INTERNAL_HOST} would open the workers' port to other machines. Set ${missing} as well.`;
}

/** Names the missing settings that server and workers share, as a message. */
function missingKeys({ TROUPE_SECRET_KEY: key, TROUPE_WORKER_TOKEN: token }: Settings): string | null {
  const missing = [...(key ? [] : ["TROUPE_SECRET_KEY"]), ...(token ? [] : ["TROUPE_WORKER_TOKEN"])];
  return missing.length > 0 ? missing.join(" and ") : null;
}

/** All settings of a worker. */
export interface WorkerSettings {
  name: string;
  labels: string[];
  host: string;
  port: number;
  /** Max concurrent runs. */
  runs: number;
  /** The operator's file on the worker. */
  toolsFile: string | null;
  control: { url: string; token: string };
  /** Null: requests are not signed, which is for this machine alone. */
  identity: string | null;
}

/** Reads the environment of a worker. Throws SettingsError. */
export function readWorkerSettings(machine: string, env: Env = process.env): WorkerSettings {
  const settings = readSettings({ ...env, HOST: undefined });
  const { TROUPE_WORKER_TOKEN: token, TROUPE_RESTATE_IDENTITY: identity = null } = settings;
  const missing = missingKeys(settings);
  if (missing !== null || token === undefined)
    throw new SettingsError(`A worker needs ${missing}, set to the same value as on the server.`);
  const { TROUPE_WORKER_HOST: host, TROUPE_WORKER_PORT: port, TROUPE_INTERNAL_PORT } = settings;
  // Where it is not set, the server is on this machine.
  const control = env.TROUPE_CONTROL_URL?.trim() || `http://127.0.0.1:${TROUPE_INTERNAL_PORT}`;
  if (!isLoopback(host) && identity === null)
    throw new SettingsError(
      `TROUPE_WORKER_HOST=${host} would let other machines send this worker runs. Set TROUPE_RESTATE_IDENTITY as well; npm run engine prints it.`,
    );
  return {
    name: settings.TROUPE_WORKER_NAME ?? `${machine.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 50)}-${port}`,
    labels: splitList(settings.TROUPE_WORKER_LABELS),
    host,
    port,
    runs: settings.TROUPE_WORKER_RUNS,
    toolsFile: settings.TROUPE_TOOLS_FILE ?? null,
    control: { url: control.replace(/(?<!\/)\/+$/, ""), token },
    identity,
  };
}

const splitList = (list = "") => list.split(/[\s,]+/).filter((word) => word !== "");

const sentence = (message: string, path: PropertyKey[]) =>
  `${message.startsWith(String(path[0])) ? message : `${String(path[0])}: ${message}`}.`;

/** Where people open Troupe, without a slash at its end. */
export const originOf = ({
  TROUPE_PUBLIC_URL: address,
  PORT,
}: Pick<Settings, "TROUPE_PUBLIC_URL" | "PORT">) =>
  address?.replace(/(?<!\/)\/+$/, "") || `http://127.0.0.1:${PORT}`;

/** One row of docs/settings.md. */
export interface SettingRow {
  name: string;
  about: string;
  /** As a person would write it; null if there is none. */
  fallback: string | null;
}

/** The settings as a table for people. */
export function settingsTable(): SettingRow[] {
  return Object.entries(Settings.shape).map(([name, schema]) => {
    const fallback = schema.safeParse(undefined);
    const value = fallback.success && fallback.data !== undefined ? fallback.data : null;
    return {
      name,
      about: schema.description ?? "",
      fallback: value === null ? null : typeof value === "boolean" ? (value ? "1" : "0") : String(value),
    };
  });
}

/** What the settings say for every run. */
export function installationRules({
  TROUPE_CONFIRMATION: kind,
  TROUPE_ALLOWED_DESTINATIONS: allowed = "",
  TROUPE_DELEGATE_TOOLS: delegates,
}: Settings): InstallationRules {
  const destinations = splitList(allowed);
  return {
    ...(kind === "risky"
      ? { confirmation: { kind, threshold: "HIGH", confirm_unknown: true } }
      : kind === "always"
        ? { confirmation: { kind } }
        : {}),
    ...defined({
      destinations: destinations.length > 0 ? destinations : undefined,
      delegate_tools: delegates === "shared" ? delegates : undefined,
    }),
  };
}
