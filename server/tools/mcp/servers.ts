import { defined } from "@/server/domain/base/defined";
import { JsonObject } from "@/server/domain/base/values";
import { ToolSpec } from "@/server/domain/tool/tool";
import type { McpServerInput, McpServerStore } from "@/server/store/library/mcp-servers";
import { type AtWorkers, NO_WORKER_CHANNELS, type WorkerChannels } from "../at-workers";
import type { ToolInterface } from "../define";
import type { StdioServer } from "../operator/file";
import { checkBySchema } from "../schema-check";
import type { McpToolWord } from "./annotations";
import { McpConnection, type McpHealth } from "./connection";
import { fingerprintOf, readable } from "./definition";
import { type KnownTool, knownTools, type McpToolStatus } from "./known-tools";
import type { McpAddress } from "./library";
import type { McpPrompt, McpResource } from "./offers";
import { McpSignIn, type OauthClientInput, type SignInAnswer, SignInFailure } from "./sign-in";
import type { SignInStatus } from "./stored-credentials";

export interface McpServerStatus extends McpHealth {
  name: string;
  kind: "http" | "stdio";
  /** The address, or the command of a server that is a process. */
  where: string;
  has_authorization: boolean;
  authorization_hint: string | null;
  /** Access that a person granted; null where it is not reached over HTTP. */
  sign_in: SignInStatus | null;
  is_enabled: boolean;
  /** Declared in the operator's file; the app can't change it. */
  from_file: boolean;
  tools: McpToolStatus[];
  /** What there is to read, and which texts there are to fill in. */
  resources: McpResource[];
  prompts: McpPrompt[];
}

/** A server's offers, apart from its address and health. */
type Offered = "tools" | "resources" | "prompts" | keyof McpHealth;

export interface McpServersParts {
  store: McpServerStore;
  /** Servers of the operator's file. Their names go before those that people add. */
  declared: readonly StdioServer[];
  /** What the operator's file says of single tools, by full names. */
  overrides?: Readonly<Record<string, McpToolWord>>;
  fetch: typeof globalThis.fetch;
  /** The way to servers that are processes of workers. Absent: there are no workers. */
  lines?: WorkerChannels;
  /** Tools or states changed. */
  onChange(): void;
}

export const MCP_CALL_MS = 60_000;

/** All MCP servers of this installation: who is connected, what they offer, and what of it may be called. */
export class McpServers {
  private readonly connections = new Map<string, McpConnection>();
  private readonly signIns = new Map<string, McpSignIn>();

  constructor(private readonly parts: McpServersParts) {
    // A worker that has it is there now, or is there again.
    this.lines.onThere(({ kind, name }) => {
      if (kind === "mcp" && this.isDeclared(name)) void this.connections.get(name)?.wake();
    });
  }

  private get lines(): WorkerChannels {
    return this.parts.lines ?? NO_WORKER_CHANNELS;
  }

  /** Begins to connect to all that are enabled; resolves when each was tried once. */
  async start(): Promise<void> {
    for (const server of this.parts.declared)
      this.connections.set(
        server.name,
        this.newConnection(server.name, () => this.addressOf(server)),
      );
    for (const { name, is_enabled } of this.parts.store.list()) if (is_enabled) this.connectStored(name);
    await Promise.all([...this.connections.values()].map((connection) => connection.start()));
  }

  async stop(): Promise<void> {
    const connections = [...this.connections.values()];
    this.connections.clear();
    await Promise.all(connections.map((connection) => connection.stop()));
  }

  /** By name. */
  list(): McpServerStatus[] {
    const declared = this.parts.declared.map(
      ({ name, command, args, worker_label: label }): Omit<McpServerStatus, Offered> => ({
        name,
        kind: "stdio",
        where: `${[command, ...args].join(" ")}${label === undefined ? "" : ` (on a worker with the label ${label})`}`,
        has_authorization: false,
        authorization_hint: null,
        sign_in: null,
        is_enabled: true,
        from_file: true,
      }),
    );
    const stored = this.parts.store
      .list()
      .filter(({ name }) => !this.isDeclared(name))
      .map(
        (server): Omit<McpServerStatus, Offered> => ({
          name: server.name,
          kind: "http",
          where: server.url,
          has_authorization: server.has_authorization,
          authorization_hint: server.authorization_hint,
          sign_in: this.signInOf(server.name).status(),
          is_enabled: server.is_enabled,
          from_file: false,
        }),
      );
    return [...declared, ...stored]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((server) => ({
        ...server,
        ...(this.connections.get(server.name)?.health ?? OFF),
        resources: this.connections.get(server.name)?.resources ?? [],
        prompts: this.connections.get(server.name)?.prompts ?? [],
        tools: this.known(server.name).map(({ definition: _definition, ...tool }) => tool),
      }));
  }

  /** Adds or changes a server and connects to it; resolves when that was tried. Nothing of it may be called yet. */
  async save({ client, ...input }: McpServerInput & { client?: OauthClientInput | null }): Promise<void> {
    if (this.isDeclared(input.name)) throw new Error(fromFile(input.name));
    this.parts.store.save(input);
    if (client !== undefined) this.signInOf(input.name).setClient(client);
    await this.disconnect(input.name);
    if (this.parts.store.find(input.name)?.is_enabled) await this.connectStored(input.name).start();
    this.parts.onChange();
  }

  async setEnabled(name: string, is_enabled: boolean): Promise<boolean> {
    if (!this.parts.store.setEnabled(name, is_enabled)) return false;
    await this.disconnect(name);
    if (is_enabled) await this.connectStored(name).start();
    this.parts.onChange();
    return true;
  }

  async remove(name: string): Promise<boolean> {
    if (this.isDeclared(name)) throw new Error(fromFile(name));
    await this.disconnect(name);
    if (this.parts.store.find(name)) await this.signInOf(name).signOut();
    const done = this.parts.store.remove(name);
    this.signIns.delete(name);
    this.parts.onChange();
    return done;
  }

  /**
   * Begins to sign in at a server: where to send the person, who comes back to `redirect_uri`. Only `owner` may finish
   * it. Throws SignInFailure, for people to read.
   */
  beginSignIn(name: string, redirect_uri: string, owner: string) {
    return readably(this.signInOf(name).begin(redirect_uri, owner));
  }

  /** Finishes it with what the person's browser brought back, and connects; answers at which server. */
  async finishSignIn(state: string, owner: string, answer: SignInAnswer): Promise<string | null> {
    for (const [name, signIn] of this.signIns) {
      if (!signIn.knows(state, owner)) continue;
      await readably(signIn.finish(state, owner, answer));
      await this.reconnect(name);
      return name;
    }
    return null;
  }

  /** Gives up the access; answers why it may still be good where it was granted, or null. */
  async signOut(name: string): Promise<string | null> {
    const stillGood = await this.signInOf(name).signOut();
    await this.reconnect(name);
    return stillGood;
  }

  /** Reconnects if necessary and lists the tools again; false if there is no such active server. */
  async refresh(name: string): Promise<boolean> {
    const connection = this.connections.get(name);
    await connection?.refresh();
    return connection !== undefined;
  }

  /** Approves a tool exactly as it was shown: a fingerprint other than the tool's current one is rejected. */
  approve(server: string, tool: string, fingerprint: string): "approved" | "changed" | "gone" {
    const definition = this.connections.get(server)?.definitions.find(({ name }) => name === tool);
    if (!definition) return "gone";
    if (fingerprintOf(definition) !== fingerprint) return "changed";
    this.parts.store.approve(server, { tool, fingerprint, definition: JSON.stringify(definition) });
    this.parts.onChange();
    return "approved";
  }

  /**
   * Stores a person's annotations of a tool, exactly as it was shown to them; null removes them. They apply to runs
   * that start from now on, until the server changes the tool. "fixed": the operator's file decides.
   */
  correct(
    server: string,
    tool: string,
    fingerprint: string,
    word: McpToolWord | null,
  ): "corrected" | "changed" | "gone" | "fixed" {
    const known = this.known(server).find(({ name }) => name === tool);
    if (!known) return "gone";
    if (known.fixed) return "fixed";
    if (word !== null && known.fingerprint !== fingerprint) return "changed";
    this.parts.store.correct(server, tool, word && { fingerprint, word: JSON.stringify(word) });
    this.parts.onChange();
    return "corrected";
  }

  withdraw(server: string, tool: string): boolean {
    const done = this.parts.store.withdraw(server, tool);
    if (done) this.parts.onChange();
    return done;
  }

  /** Every tool that a server has or had; those that cannot be called now say why. */
  tools(): ToolInterface[] {
    const names = [...this.parts.declared, ...this.parts.store.list()].map(({ name }) => name);
    return [...new Set(names)].flatMap((server) =>
      this.known(server).map((tool) => this.toolOf(server, tool, this.whyNot(server, tool.state))),
    );
  }

  private toolOf(
    server: string,
    { definition, fixed, corrected }: KnownTool,
    unavailable: string | null,
  ): ToolInterface {
    const { name, description, input_schema, output_schema, hints, as_task = false } = definition;
    const full_name = `mcp:${server}/${name}`;
    const override = fixed ?? (corrected?.holds ? corrected : undefined);
    const spec = ToolSpec.parse({
      name: full_name,
      description: readable(description).slice(0, 4000),
      input_schema: { type: "object", ...input_schema },
      output_schema,
      source: "mcp",
      // What a server says of itself is believed only where it warns; a person's word goes before it, the operator's first.
      risk:
        override?.risk ??
        (override?.reads ? "LOW" : hints.destructive && !hints.read_only ? "HIGH" : "UNKNOWN"),
      read_only: override?.reads === true,
      on_crash: override?.on_crash,
      destructive: override?.reads !== true && hints.destructive === true && !hints.read_only,
      taints: override?.own !== true,
      sink: override?.inside !== true,
      timeout_ms: MCP_CALL_MS + 2_000,
      ...defined({ unavailable: unavailable === null ? undefined : unavailable }),
    });
    const fingerprint = fingerprintOf(definition);
    return {
      spec,
      check: (args) => checkBySchema(spec.input_schema, args),
      execute: async (input, { signal, idempotencyKey, originalKey, answers }) => {
        await this.connections.get(server)?.wake();
        // The server may have changed it since this tool was created.
        const now = this.known(server).find((tool) => tool.name === name);
        const why =
          !now || now.fingerprint !== fingerprint ? changed(spec.name) : this.whyNot(server, now.state);
        const connection = this.connections.get(server);
        if (why !== null || !connection)
          return { status_code: 503, error: why ?? `The MCP server "${server}" no longer exists.` };
        const output = await connection.call(name, JsonObject.parse(input), {
          signal,
          timeout_ms: MCP_CALL_MS,
          idempotencyKey,
          originalKey,
          as_task,
          answers,
        });
        const fits =
          output.status_code === 200 && output_schema && typeof output.output === "object"
            ? checkBySchema(output_schema, output.output)
            : null;
        return fits && !fits.ok
          ? {
              status_code: 500,
              error: `${spec.name} returned a result that does not match its output schema: ${fits.errors.join("; ")}`,
            }
          : output;
      },
    };
  }

  /** Why a tool in this state cannot be called, or null. */
  private whyNot(server: string, state: McpToolStatus["state"]): string | null {
    const connection = this.connections.get(server);
    if (!connection) return `The MCP server "${server}" is turned off. Turn it on on the Tools page.`;
    if (state === "new") return `New on the MCP server "${server}". Approve it on the Tools page first.`;
    if (state === "changed")
      return `The MCP server "${server}" changed it after it was approved. Review and approve it again on the Tools page.`;
    // An unavailable server is reconnected when it is called, and then reports its own error.
    if (connection.health.state !== "connected") return null;
    return state === "gone" ? `The MCP server "${server}" no longer offers it.` : null;
  }

  private known(server: string): KnownTool[] {
    const { store, overrides = {} } = this.parts;
    return knownTools(server, {
      definitions: this.connections.get(server)?.definitions ?? [],
      pins: store.pins(server),
      corrections: store.corrections(server),
      overrides,
    });
  }

  private isDeclared(name: string): boolean {
    return this.parts.declared.some((server) => server.name === name);
  }

  private addressOf(server: StdioServer): McpAddress {
    const { name, worker_label: label } = server;
    if (label === undefined) return { kind: "stdio", server };
    const what: AtWorkers = { kind: "mcp", name, label };
    return { kind: "worker", open: (end) => this.lines.open(what, name, end) };
  }

  private connectStored(name: string): McpConnection {
    const { store, fetch } = this.parts;
    const connection = this.newConnection(name, () => {
      const server = store.find(name);
      if (!server) throw new Error("This server was removed");
      const authorization = store.authorizationOf(name);
      // A header that was entered goes before what a person granted.
      return {
        kind: "http",
        url: server.url,
        authorization,
        fetch: authorization === null ? this.signInOf(name).fetch : fetch,
      };
    });
    if (!this.isDeclared(name)) this.connections.set(name, connection);
    return connection;
  }

  private newConnection(name: string, address: () => McpAddress): McpConnection {
    return new McpConnection(name, address, () => this.parts.onChange());
  }

  private signInOf(name: string): McpSignIn {
    const { store, fetch } = this.parts;
    let signIn = this.signIns.get(name);
    if (!signIn) {
      signIn = new McpSignIn({
        url: () => store.find(name)?.url,
        read: () => store.oauthOf(name),
        write: (url, kept) => store.keepOauth(name, url, kept),
        fetch,
      });
      this.signIns.set(name, signIn);
    }
    return signIn;
  }

  private async reconnect(name: string): Promise<void> {
    if (this.parts.store.find(name)?.is_enabled) {
      await this.disconnect(name);
      await this.connectStored(name).start();
    }
    this.parts.onChange();
  }

  private async disconnect(name: string): Promise<void> {
    const connection = this.connections.get(name);
    this.connections.delete(name);
    await connection?.stop();
  }
}

/** Turns failures into SignInFailure, with a message. */
async function readably<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    const { describeError } = await import("./library");
    throw error instanceof SignInFailure ? error : new SignInFailure(describeError(error));
  }
}

const OFF: McpHealth = { state: "off", last_error: null, connected_at: null, latency_ms: null, problems: [] };

const fromFile = (name: string) =>
  `"${name}" is declared in the operator's tools file (TROUPE_TOOLS_FILE). Change it there.`;

const changed = (name: string) =>
  `${name} was changed after it was approved. Review and approve it again on the Tools page.`;
