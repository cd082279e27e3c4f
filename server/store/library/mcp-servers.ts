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
  /** JSON; whoever pinned it knows its shape. */
  definition: string;
  approved_at: number;
}

/** What a person said of a tool as it was defined then. */
export interface McpCorrection {
  tool: string;
  /** SHA-256 of the definition, hex. */
  fingerprint: string;
  /** JSON; whoever kept it knows its shape. */
  word: string;
}

/** An OAuth client and tokens; whoever kept them knows their shape. */
export interface KeptOauth {
  text: string;
  /** The parts of it that nobody may read, also not in logs and events. */
  secrets: string[];
}

/** MCP servers that people added, their sealed Authorization headers, and what was approved of any server. */
export interface McpServerStore {
  /** By name. */
  list(): StoredMcpServer[];
  find(name: string): StoredMcpServer | undefined;
  /** The header's value, or null. Throws SecretError where it cannot be opened. */
  authorizationOf(name: string): string | null;
  /** The OAuth client and tokens as they were kept, or null. Throws SecretError where they cannot be opened. */
  oauthOf(name: string): KeptOauth | null;
  /** Keeps them, sealed; false where the server is gone or has another address than they are for. */
  keepOauth(name: string, url: string, kept: KeptOauth | null): boolean;
  /** Adds or changes. What was approved is forgotten where the address changes: it is another server. */
  save(input: McpServerInput): void;
  setEnabled(name: string, is_enabled: boolean): boolean;
  /** With everything that was approved of it. */
  remove(name: string): boolean;
  /** Of any server, also one of the operator's file. */
  pins(server: string): McpPin[];
  approve(server: string, pin: Omit<McpPin, "approved_at">): void;
  /** Takes an approval back. */
  withdraw(server: string, tool: string): boolean;
  /** Of any server; forgotten with what was approved of it. */
  corrections(server: string): McpCorrection[];
  /** Null takes the correction back. */
  correct(server: string, tool: string, correction: Omit<McpCorrection, "tool"> | null): void;
}

export function newMcpServerStore(db: Db, sealer: Sealer, now: () => number = Date.now): McpServerStore {
  const rowOf = (name: string) => db.select().from(mcpServers).where(eq(mcpServers.name, name)).get();
  const toServer = (row: typeof mcpServers.$inferSelect): StoredMcpServer => ({
    name: row.name,
    url: row.url,
    has_authorization: row.secret !== null,
    authorization_hint: row.secretHint,
    is_enabled: row.isEnabled,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  });
  const forget = (server: string) => {
    db.delete(mcpPins).where(eq(mcpPins.server, server)).run();
    db.delete(mcpCorrections).where(eq(mcpCorrections.server, server)).run();
  };

  return {
    list: () => db.select().from(mcpServers).orderBy(asc(mcpServers.name)).all().map(toServer),
    find: (name) => {
      const row = rowOf(name);
      return row && toServer(row);
    },
    authorizationOf: (name) => {
      const row = rowOf(name);
      return row?.secret ? sealer.open(row.secret, bindingOf(row.name, row.url)) : null;
    },
    oauthOf: (name) => {
      const row = rowOf(name);
      if (!row?.oauth) return null;
      const kept = ownJson<KeptOauth>(sealer.open(row.oauth, oauthBindingOf(row.name, row.url)));
      kept.secrets.forEach(registerSecret);
      return kept;
    },
    keepOauth: (name, url, kept) => {
      kept?.secrets.forEach(registerSecret);
      const oauth = kept && sealer.seal(JSON.stringify(kept), oauthBindingOf(name, url));
      const isHere = and(eq(mcpServers.name, name), eq(mcpServers.url, url));
      return db.update(mcpServers).set({ oauth }).where(isHere).run().changes > 0;
    },
    save: ({ name, url, authorization, is_enabled }) =>
      writeTransaction(db, () => {
        const before = rowOf(name);
        const isSameAddress = before?.url === url;
        const seal = (header: string) => sealer.seal(header, bindingOf(name, url));
        const at = now();
        const values = {
          url,
          ...savedSecret(authorization, isSameAddress && before, seal),
          oauth: isSameAddress ? (before?.oauth ?? null) : null,
          isEnabled: is_enabled ?? before?.isEnabled ?? true,
          updatedAt: at,
        };
        if (before && !isSameAddress) forget(name);
        db.insert(mcpServers)
          .values({ name, createdAt: at, ...values })
          .onConflictDoUpdate({ target: mcpServers.name, set: values })
          .run();
      }),
    setEnabled: (name, is_enabled) =>
      db
        .update(mcpServers)
        .set({ isEnabled: is_enabled, updatedAt: now() })
        .where(eq(mcpServers.name, name))
        .run().changes > 0,
    remove: (name) =>
      writeTransaction(db, () => {
        forget(name);
        return db.delete(mcpServers).where(eq(mcpServers.name, name)).run().changes > 0;
      }),
    pins: (server) =>
      db
        .select({
          tool: mcpPins.tool,
          fingerprint: mcpPins.fingerprint,
          definition: mcpPins.definition,
          approved_at: mcpPins.approvedAt,
        })
        .from(mcpPins)
        .where(eq(mcpPins.server, server))
        .orderBy(asc(mcpPins.tool))
        .all(),
    approve: (server, { tool, fingerprint, definition }) => {
      const values = { fingerprint, definition, approvedAt: now() };
      db.insert(mcpPins)
        .values({ server, tool, ...values })
        .onConflictDoUpdate({ target: [mcpPins.server, mcpPins.tool], set: values })
        .run();
    },
    withdraw: (server, tool) =>
      db
        .delete(mcpPins)
        .where(and(eq(mcpPins.server, server), eq(mcpPins.tool, tool)))
        .run().changes > 0,
    corrections: (server) =>
      db
        .select({
          tool: mcpCorrections.tool,
          fingerprint: mcpCorrections.fingerprint,
          word: mcpCorrections.word,
        })
        .from(mcpCorrections)
        .where(eq(mcpCorrections.server, server))
        .all(),
    correct: (server, tool, correction) => {
      const { server: ofServer, tool: ofTool } = mcpCorrections;
      if (correction === null)
        return void db
          .delete(mcpCorrections)
          .where(and(eq(ofServer, server), eq(ofTool, tool)))
          .run();
      const values = { ...correction, correctedAt: now() };
      db.insert(mcpCorrections)
        .values({ server, tool, ...values })
        .onConflictDoUpdate({ target: [ofServer, ofTool], set: values })
        .run();
    },
  };
}

const oauthBindingOf = (name: string, url: string) => `mcp_servers:${name}:oauth:${url}`;
const bindingOf = (name: string, url: string) => `mcp_servers:${name}:authorization:${url}`;
