import { and, asc, eq } from "drizzle-orm";
import { type Db, writeTransaction } from "@/db/open";
import { mcpCorrections, mcpPins, mcpServers } from "@/db/schema";
import { registerSecret } from "@/server/secrets/redact";
import type { Sealer } from "@/server/secrets/sealer";
import { ownJson } from "../own-json";
import { savedSecret } from "../stored-secret";

export interface StoredMcpServer {
  /** The word in `mcp:NAME/tool`. */
  name: string;
  url: string;
  has_authorization: boolean;
  /** The end of the Authorization header. */
  authorization_hint: string | null;
  is_enabled: boolean;
  created_at: number;
  updated_at: number;
}

export interface McpServerInput {
  name: string;
  url: string;
  /** Left out: keeps the stored header, unless the address changes. Null or blank: removes it. */
  authorization?: string | null;
  is_enabled?: boolean | undefined;
}

/** The definition of a tool as a person approved it. */
export interface McpPin {
  tool: string;
  /** SHA-256 of the definition, hex. */
  fingerprint: string;
  /** JSON; its schema is up to the caller. */
  definition: string;
  approved_at: number;
}

/** A person's correction of a tool's annotations, for its definition at that time. */
export interface McpCorrection {
  tool: string;
  /** SHA-256 of the definition, hex. */
  fingerprint: string;
  /** JSON; its schema is up to the caller. */
  word: string;
}

/** An OAuth client and its tokens; their schema is up to the caller. */
export interface KeptOauth {
  text: string;
  /** Parts of the text to redact, also from logs and events. */
  secrets: string[];
}

const toServer = (row: typeof mcpServers.$inferSelect): StoredMcpServer => ({
  name: row.name,
  url: row.url,
  has_authorization: row.secret !== null,
  authorization_hint: row.secretHint,
  is_enabled: row.isEnabled,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});

/** MCP servers that people added, their sealed Authorization headers, and what was approved of any server. */
export class McpServerStore {
  constructor(
    private readonly db: Db,
    private readonly sealer: Sealer,
    private readonly now: () => number = Date.now,
  ) {}

  /** By name. */
  list(): StoredMcpServer[] {
    return this.db.select().from(mcpServers).orderBy(asc(mcpServers.name)).all().map(toServer);
  }

  find(name: string): StoredMcpServer | undefined {
    const row = this.rowOf(name);
    return row && toServer(row);
  }

  /** The header's value, or null. Throws where it cannot be opened. */
  authorizationOf(name: string): string | null {
    const row = this.rowOf(name);
    return row?.secret ? this.sealer.open(row.secret, bindingOf(row.name, row.url)) : null;
  }

  /** The OAuth client and tokens as they were kept, or null. Throws where they cannot be opened. */
  oauthOf(name: string): KeptOauth | null {
    const row = this.rowOf(name);
    if (!row?.oauth) return null;
    const kept = ownJson<KeptOauth>(this.sealer.open(row.oauth, oauthBindingOf(row.name, row.url)));
    kept.secrets.forEach(registerSecret);
    return kept;
  }

  /** Keeps them, sealed; false where the server is gone or has another address than they are for. */
  keepOauth(name: string, url: string, kept: KeptOauth | null): boolean {
    kept?.secrets.forEach(registerSecret);
    const oauth = kept && this.sealer.seal(JSON.stringify(kept), oauthBindingOf(name, url));
    const isHere = and(eq(mcpServers.name, name), eq(mcpServers.url, url));
    return this.db.update(mcpServers).set({ oauth }).where(isHere).run().changes > 0;
  }

  /** Adds or changes. What was approved is forgotten where the address changes: it is another server. */
  save({ name, url, authorization, is_enabled }: McpServerInput): void {
    return writeTransaction(this.db, () => {
      const before = this.rowOf(name);
      const isSameAddress = before?.url === url;
      const seal = (header: string) => this.sealer.seal(header, bindingOf(name, url));
      const at = this.now();
      const values = {
        url,
        ...savedSecret(authorization, isSameAddress && before, seal),
        oauth: isSameAddress ? (before?.oauth ?? null) : null,
        isEnabled: is_enabled ?? before?.isEnabled ?? true,
        updatedAt: at,
      };
      if (before && !isSameAddress) this.forget(name);
      this.db
        .insert(mcpServers)
        .values({ name, createdAt: at, ...values })
        .onConflictDoUpdate({ target: mcpServers.name, set: values })
        .run();
    });
  }

  setEnabled(name: string, is_enabled: boolean): boolean {
    return (
      this.db
        .update(mcpServers)
        .set({ isEnabled: is_enabled, updatedAt: this.now() })
        .where(eq(mcpServers.name, name))
        .run().changes > 0
    );
  }

  /** With everything that was approved of it. */
  remove(name: string): boolean {
    return writeTransaction(this.db, () => {
      this.forget(name);
      return this.db.delete(mcpServers).where(eq(mcpServers.name, name)).run().changes > 0;
    });
  }

  /** Of any server, also one of the operator's file. */
  pins(server: string): McpPin[] {
    return this.db
      .select({
        tool: mcpPins.tool,
        fingerprint: mcpPins.fingerprint,
        definition: mcpPins.definition,
        approved_at: mcpPins.approvedAt,
      })
      .from(mcpPins)
      .where(eq(mcpPins.server, server))
      .orderBy(asc(mcpPins.tool))
      .all();
  }

  approve(server: string, { tool, fingerprint, definition }: Omit<McpPin, "approved_at">): void {
    const values = { fingerprint, definition, approvedAt: this.now() };
    this.db
      .insert(mcpPins)
      .values({ server, tool, ...values })
      .onConflictDoUpdate({ target: [mcpPins.server, mcpPins.tool], set: values })
      .run();
  }

  /** Takes an approval back. */
  withdraw(server: string, tool: string): boolean {
    return (
      this.db
        .delete(mcpPins)
        .where(and(eq(mcpPins.server, server), eq(mcpPins.tool, tool)))
        .run().changes > 0
    );
  }

  /** Of any server; forgotten with what was approved of it. */
  corrections(server: string): McpCorrection[] {
    return this.db
      .select({
        tool: mcpCorrections.tool,
        fingerprint: mcpCorrections.fingerprint,
        word: mcpCorrections.word,
      })
      .from(mcpCorrections)
      .where(eq(mcpCorrections.server, server))
      .all();
  }

  /** Null takes the correction back. */
  correct(server: string, tool: string, correction: Omit<McpCorrection, "tool"> | null): void {
    const { server: ofServer, tool: ofTool } = mcpCorrections;
    if (correction === null)
      return void this.db
        .delete(mcpCorrections)
        .where(and(eq(ofServer, server), eq(ofTool, tool)))
        .run();
    const values = { ...correction, correctedAt: this.now() };
    this.db
      .insert(mcpCorrections)
      .values({ server, tool, ...values })
      .onConflictDoUpdate({ target: [ofServer, ofTool], set: values })
      .run();
  }

  private rowOf(name: string) {
    return this.db.select().from(mcpServers).where(eq(mcpServers.name, name)).get();
  }

  private forget(server: string) {
    this.db.delete(mcpPins).where(eq(mcpPins.server, server)).run();
    this.db.delete(mcpCorrections).where(eq(mcpCorrections.server, server)).run();
  }
}

const oauthBindingOf = (name: string, url: string) => `mcp_servers:${name}:oauth:${url}`;
const bindingOf = (name: string, url: string) => `mcp_servers:${name}:authorization:${url}`;
