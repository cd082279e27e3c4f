import { z } from "zod";
import { keyFate } from "@/server/domain/audit";
import { hostOf } from "./providers";
import { toolSourcesOf } from "./tool-sources";
import { procedure, refusal, router } from "./trpc";

const Name = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]{0,63}$/,
    "Use letters, digits, _ and - and start with a letter (at most 64)",
  );
const ByName = z.object({ name: z.string() });
const Url = z
  .string()
  .trim()
  .max(2000)
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    "Enter an address that begins with https:// or http://",
  )
  .refine(
    (text) => !URL.canParse(text) || (new URL(text).username === "" && new URL(text).password === ""),
    "Enter the authorization in its own field, not in the address",
  );
// A header cannot carry anything else.
const Authorization = z
  .string()
  .trim()
  .max(4000)
  .regex(/^[\x20-\x7e]*$/, "This header holds characters that none can have; copy it again");

/** MCP servers: where they are, how they are, and what of theirs may be called. The header goes in and never comes out. */
export const mcpRouter = router({
  list: procedure.query(({ ctx }) => toolSourcesOf(ctx.troupe).mcp.list()),

  /** Adds or changes; answers when connecting was tried. */
  add: procedure
    .input(
      z.object({
        name: Name,
        url: Url,
        authorization: Authorization.nullish(),
        is_enabled: z.boolean().optional(),
      }),
    )
    .mutation(async ({ ctx, input: { authorization, ...server } }) => {
      const { mcp } = toolSourcesOf(ctx.troupe);
      refuseFixed(mcp.list(), server.name);
      const before = mcp.list().find(({ name }) => name === server.name);
      await mcp.save({ ...server, ...(authorization === undefined ? {} : { authorization }) });
      const after = statusOf(mcp.list(), server.name);
      ctx.note(before ? "mcp_server_changed" : "mcp_server_added", {
        server: server.name,
        host: hostOf(server.url),
        is_enabled: after.is_enabled,
        key: keyFate(authorization, before?.has_authorization ?? false, after.has_authorization),
      });
      return after;
    }),

  setEnabled: procedure
    .input(z.object({ name: z.string(), is_enabled: z.boolean() }))
    .mutation(async ({ ctx, input }) => {
      const { mcp } = toolSourcesOf(ctx.troupe);
      refuseFixed(mcp.list(), input.name);
      await mcp.setEnabled(input.name, input.is_enabled);
      const after = statusOf(mcp.list(), input.name);
      ctx.note("mcp_server_changed", { server: input.name, is_enabled: input.is_enabled });
      return after;
    }),

  remove: procedure.input(ByName).mutation(async ({ ctx, input }) => {
    const { mcp } = toolSourcesOf(ctx.troupe);
    refuseFixed(mcp.list(), input.name);
    if (!(await mcp.remove(input.name))) throw notFound(input.name);
    ctx.note("mcp_server_removed", { server: input.name });
    return { name: input.name };
  }),

  /** Connects again if need be, and asks for the tools again. */
  refresh: procedure.input(ByName).mutation(async ({ ctx, input }) => {
    const { mcp } = toolSourcesOf(ctx.troupe);
    await mcp.refresh(input.name);
    return statusOf(mcp.list(), input.name);
  }),

  /** Lets tools be called, exactly as they were shown. Answers which were not: they have changed since, or are gone. */
  approve: procedure
    .input(
      z.object({
        name: z.string(),
        tools: z
          .array(z.object({ tool: z.string(), fingerprint: z.string() }))
          .min(1)
          .max(500),
      }),
    )
    .mutation(({ ctx, input }) => {
      const { mcp } = toolSourcesOf(ctx.troupe);
      const refused = input.tools.flatMap(({ tool, fingerprint }) => {
        const result = mcp.approve(input.name, tool, fingerprint);
        return result === "approved" ? [] : [{ tool, reason: result }];
      });
      const approved = input.tools.filter(({ tool }) => !refused.some((other) => other.tool === tool));
      if (approved.length > 0)
        ctx.note("mcp_tools_approved", {
          server: input.name,
          // With the fingerprint: what was approved is exactly that definition.
          tools: approved.map(({ tool, fingerprint }) => ({ tool, fingerprint })),
        });
      return { refused, server: statusOf(mcp.list(), input.name) };
    }),

  /** Takes an approval back. */
  withdraw: procedure.input(z.object({ name: z.string(), tool: z.string() })).mutation(({ ctx, input }) => {
    const { mcp } = toolSourcesOf(ctx.troupe);
    if (mcp.withdraw(input.name, input.tool))
      ctx.note("mcp_approval_withdrawn", { server: input.name, tool: input.tool });
    return statusOf(mcp.list(), input.name);
  }),
});

const notFound = (name: string) => refusal("NOT_FOUND", `There is no MCP server called "${name}".`);

function statusOf<S extends { name: string }>(servers: readonly S[], name: string): S {
  const server = servers.find((other) => other.name === name);
  if (!server) throw notFound(name);
  return server;
}

function refuseFixed(servers: readonly { name: string; from_file: boolean }[], name: string): void {
  if (servers.some((server) => server.name === name && server.from_file))
    throw refusal(
      "BAD_REQUEST",
      `"${name}" is declared in the file of whoever runs Troupe (TROUPE_TOOLS_FILE). Change it there.`,
    );
}
