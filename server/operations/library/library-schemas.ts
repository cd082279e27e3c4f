import { z } from "zod";
import { MemoryScope } from "@/server/domain/agent/memory/memory-scope";
import { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import { Json } from "@/server/domain/base/values";
import { CrewConfig } from "@/server/domain/crew/crew";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import { SearchKind, SearchPurpose } from "@/server/domain/tool/search-backend";
import { ToolSpec } from "@/server/domain/tool/tool";
import { MemorySource } from "@/server/store/library/memories/memories";
import { McpToolWord } from "@/server/tools/mcp/annotations";
import { Time, Values } from "../common-schemas";

export const StoredRole = z.object({
  role: RoleDefinition,
  revision: z.int(),
  builtin: z.boolean(),
  updated_at: Time,
  origin: z
    .object({ kind: z.literal("folder"), file: z.string() })
    .optional()
    .meta({ description: "Present on roles read from a file; edit those roles in the file" }),
});

const inLibrary = {
  id: z.string().meta({ description: "The ID used to refer to it" }),
  name: z.string(),
  revision: z.int(),
  updated_at: Time,
};

export const StoredCrew = z.object({ ...inLibrary, crew: CrewConfig });

export const StoredAgent = z.object({ ...inLibrary, agent: AgentConfig });

/** What agents remember. */
export const StoredMemory = z.object({
  id: z.int(),
  scope: MemoryScope,
  scope_id: z.string().meta({ description: "What the scope is bound to, such as a run or a workflow" }),
  key: z.string(),
  value: Json.meta({ description: "A string or any other JSON value" }),
  importance: z.number().meta({ description: "From 0 to 1" }),
  tainted: z.boolean().meta({ description: "Whether it came from untrusted content" }),
  source: MemorySource.meta({ description: "Who wrote it, and where" }),
  created_at: Time,
  updated_at: Time,
  expires_at: Time.nullable().meta({ description: "Null if it never expires" }),
});

/** What it is bound to. */
export const PlacedMemory = StoredMemory.extend({
  place: z.object({
    workflow: z.object({ id: z.string(), name: z.string() }).nullable(),
    run: z.object({ id: z.string(), name: z.string(), workflow_id: z.string().nullable() }).nullable(),
  }),
});

const UsedBy = z.array(z.string()).meta({ description: "Roles that use it" });

export const ListedTools = z.object({
  tools: z.array(ToolSpec.extend({ used_by: UsedBy })),
  crew: z
    .array(
      z.object({
        name: z.string(),
        description: z.string(),
        grant: z.enum(["always", "way", "role", "delegation"]).meta({ description: "What grants it" }),
        used_by: UsedBy,
      }),
    )
    .meta({ description: "Actions that the run executes itself" }),
});

/** A search service. Its key is never returned. */
export const SearchService = z.object({
  purpose: SearchPurpose,
  kind: SearchKind.nullable().meta({ description: "Null if not configured" }),
  base_url: z.string(),
  has_key: z.boolean(),
});

/** A version of a tool that was written in the app. */
export const CustomTool = z.object({
  definition: CustomToolDefinition,
  version: z.int(),
  created_at: Time,
  deleted_at: Time.nullable().meta({ description: "Set while it is in the trash" }),
});

const McpTool = z.object({
  name: z.string().meta({ description: "Name on the server" }),
  full_name: z.string().meta({ description: "Name in roles and calls" }),
  description: z.string(),
  input_schema: Values,
  output_schema: Values.nullable(),
  state: z.enum(["approved", "new", "changed", "gone"]).meta({
    description:
      "approved: can be called; new, changed: a person must approve it first; gone: the server doesn't currently offer it",
  }),
  fingerprint: z.string().meta({ description: "Hash of its definition" }),
  hints: z
    .object({
      read_only: z.boolean(),
      destructive: z.boolean(),
      idempotent: z.boolean(),
      open_world: z.boolean(),
    })
    .partial()
    .meta({ description: "The server's own annotations; trusted only if they make a tool more restricted" }),
  fixed: McpToolWord.nullable().meta({ description: "Annotations from the operator's tools file" }),
  corrected: z
    .object({ ...McpToolWord.shape, holds: z.boolean() })
    .nullable()
    .meta({ description: "Annotations set by a person" }),
});

/** An MCP server. Its address and command are not told: they may hold keys. */
export const McpServer = z.object({
  name: z.string(),
  kind: z.enum(["http", "stdio"]),
  state: z.enum(["off", "connecting", "connected", "failed", "needs_sign_in"]),
  is_enabled: z.boolean(),
  from_file: z
    .boolean()
    .meta({ description: "Whether it is declared in the operator's tools file; change it there" }),
  has_authorization: z.boolean(),
  sign_in: z
    .object({
      state: z.enum(["none", "signed_in"]),
      host: z.string().nullable().meta({ description: "Host that granted access" }),
      scope: z.string().nullable(),
      until: z.number().nullable().meta({ description: "Unix time in milliseconds" }),
      renews: z.boolean(),
      as_program: z.boolean(),
      wants_more: z.string().nullable(),
    })
    .nullable()
    .meta({ description: "Access that a person granted; null if the server isn't reached over HTTP" }),
  connected_at: Time.nullable(),
  latency_ms: z.number().nullable(),
  tools: z.array(McpTool),
});
