import { type ChildProcess, spawn } from "node:child_process";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");

/** A port of this machine that nobody listens on, so that two test runs side by side never meet. */
export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** How a server is started: the clone's own build, as `npm start` does. */
const OWN_BUILD = { args: ["scripts/start.mjs", "--serve-only"], cwd: root };

/** A Troupe server in a process of its own: the production build. */
export class TroupeProcess {
  /** Where its pages begin, without a slash at the end. */
  readonly home: string;
  readonly api: string;
  private child: ChildProcess | null = null;
  private output = "";

  constructor(
    readonly dataDir: string,
    readonly port: number,
    private readonly token: string,
    private readonly env: Record<string, string> = {},
    /** Which Node runs it. */
    private readonly node = process.execPath,
    private readonly program = OWN_BUILD,
  ) {
    this.home = `http://127.0.0.1:${port}`;
    this.api = `${this.home}/api/v1`;
  }

  /** Starts it, and resolves with the milliseconds until its first answer. */
  async start(): Promise<number> {
    const began = Date.now();
    this.output = "";
    const child = spawn(this.node, this.program.args, {
      cwd: this.program.cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        PORT: String(this.port),
        HOST: "127.0.0.1",
        TROUPE_DATA_DIR: this.dataDir,
        TROUPE_API_TOKEN: this.token,
        TROUPE_PASSWORD: "",
        TROUPE_START_LINK: "",
        TROUPE_PUBLIC_URL: "",
        // The tests never spend anyone's money, and never meet anyone's settings.
        OPENAI_API_KEY: "",
        OPENAI_BASE_URL: "",
        ...this.env,
      },
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text) => (this.output += String(text)));
    this.child = child;
    // Whoever started it and ends without a word takes it along.
    const goesAlong = () => child.kill("SIGKILL");
    process.once("exit", goesAlong);
    child.once("exit", () => process.off("exit", goesAlong));
    while (Date.now() - began < 30_000) {
      if (child.exitCode !== null)
        throw new Error(`The server left with code ${child.exitCode}:\n${this.output}`);
      // Its own words first: on a port that is taken, somebody else would answer.
      if (this.output.includes("Troupe is ready at") && (await this.answers())) return Date.now() - began;
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    throw new Error(`The server does not answer:\n${this.output}`);
  }

  /** The process, for measuring it. */
  get pid(): number {
    return this.child?.pid ?? 0;
  }

  /** What it printed since its start. */
  get printed(): string {
    return this.output;
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** Ends it as Ctrl+C or a service manager would. */
  async stop(): Promise<void> {
    await this.end("SIGTERM");
  }

  private async end(signal: "SIGKILL" | "SIGTERM") {
    const { child } = this;
    this.child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  private async answers(): Promise<boolean> {
    try {
      return (await fetch(`${this.api}/health`, { signal: AbortSignal.timeout(5_000) })).ok;
    } catch {
      return false;
    }
  }

  /** One request to the HTTP API, with a body as JSON or as the text it is; throws with the server's words where it is refused. */
  async call<T>(
    method: "GET" | "POST" | "PUT" | "DELETE",
    where: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<T> {
    const response = await fetch(`${this.api}${where}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(15_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${where}: ${response.status} ${text}`);
    return (text ? JSON.parse(text) : null) as T;
  }
}
