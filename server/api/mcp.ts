import { z } from "zod";
import { isOwnOrigin } from "@/server/access/hosts";
import type { Principal } from "@/server/access/principal";
import type { JsonObject } from "@/server/domain/base/values";
import { keyFate } from "@/server/domain/run/audit";
import { hostOf } from "@/server/operations/addresses";
import { isPrivateKey } from "@/server/tools/mcp/private-key";
import { McpToolWord } from "@/server/tools/mcp/word";
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

const Client = z
  .object({
    client_id: z
      .string()
      .trim()
      .min(1)
      .max(2000)
      .regex(/^[\x20-\x7e]*$/, "A client ID has plain characters only"),
    client_secret: z
      .string()
      .trim()
      .max(2000)
      .regex(/^[\x20-\x7e]*$/, "A client secret has plain characters only")
      .transform((text) => text || null)
      .nullable(),
    private_key: z
      .string()
      .trim()
      .max(20_000)
      .refine(
        isPrivateKey,
        "Enter a private key in PEM, without a passphrase: RSA of 2048 bits, P-256, P-384, P-521 or Ed25519",
      )
      .nullish()
      .transform((key) => key ?? null),
    as_program: z.boolean().default(false),
  })
  .refine(
    ({ as_program, client_secret, private_key }) =>
      !as_program || client_secret !== null || private_key !== null,
    "A client that is granted access itself needs a secret or a private key",
  )
  .refine(
    ({ as_program, private_key }) => as_program || private_key === null,
    "A private key is for a client that is granted access itself",
  );
/** What an authorization server adds to the address to which it sends a person back. */
const SignInAnswer = z.object({
  state: z.string().max(200),
  code: z.string().max(8000).optional(),
  iss: z.string().max(2000).optional(),
  error: z.string().max(200).optional(),
  error_description: z.string().max(2000).optional(),
});

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
        client: Client.nullish(),
        is_enabled: z.boolean().optional(),
      }),
    )
    .mutation(async ({ ctx, input: { authorization, client, ...server } }) => {
      const { mcp } = toolSourcesOf(ctx.troupe);
      refuseFixed(mcp.list(), server.name);
      const before = mcp.list().find(({ name }) => name === server.name);
      await mcp.save({
        ...server,
        ...(authorization === undefined ? {} : { authorization }),
        ...(client === undefined ? {} : { client }),
      });
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

  /**
   * Begins to sign in at a server: answers where the person has to go, who then comes back to this app. `origin`: where
   * the app is open in their browser.
   */
  beginSignIn: procedure
    .input(z.object({ name: z.string(), origin: z.string().max(300) }))
    .mutation(async ({ ctx, input: { name, origin } }) => {
      const { mcp } = toolSourcesOf(ctx.troupe);
      refuseFixed(mcp.list(), name);
      statusOf(mcp.list(), name);
      if (!isOwnOrigin(origin))
        throw refusal(
          "BAD_REQUEST",
          "Open Troupe at its own address to sign in; behind a proxy, set TROUPE_PUBLIC_URL.",
        );
      return readably(mcp.beginSignIn(name, `${origin}${SIGN_IN_PATH}`, ownerOf(ctx.principal)));
    }),

  /** Finishes it, once, in the session that began it; answers when connecting was tried. */
  finishSignIn: procedure.input(SignInAnswer).mutation(async ({ ctx, input: { state, ...answer } }) => {
    const { mcp } = toolSourcesOf(ctx.troupe);
    const name = await readably(mcp.finishSignIn(state, ownerOf(ctx.principal), answer));
    if (name === null)
      throw refusal(
        "BAD_REQUEST",
        "This sign-in was not begun in this browser, or took too long. Begin again.",
      );
    const after = statusOf(mcp.list(), name);
    ctx.note("mcp_signed_in", { server: name, host: after.sign_in?.host ?? "" });
    return after;
  }),

  /** Gives up the access that was granted; `still_good`: why it may not have ended where it was granted. */
  signOut: procedure.input(ByName).mutation(async ({ ctx, input }) => {
    const { mcp } = toolSourcesOf(ctx.troupe);
    const before = statusOf(mcp.list(), input.name);
    refuseFixed(mcp.list(), input.name);
    const still_good = await mcp.signOut(input.name);
    ctx.note("mcp_signed_out", { server: input.name, host: before.sign_in?.host ?? "" });
    return { ...statusOf(mcp.list(), input.name), still_good };
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

  /**
   * Says what a tool really does, whatever its server says of itself; a null word takes that back. Refused for another
   * definition than the one that was shown, and where the operator's file says it already.
   */
  correct: procedure
    .input(
      z.object({
        name: z.string(),
        tool: z.string(),
        fingerprint: z.string(),
        word: McpToolWord.nullable(),
      }),
    )
    .mutation(({ ctx, input: { name, tool, fingerprint, word } }) => {
      const { mcp } = toolSourcesOf(ctx.troupe);
      statusOf(mcp.list(), name);
      const result = mcp.correct(name, tool, fingerprint, word);
      if (result === "gone") throw refusal("NOT_FOUND", `"${name}" has no tool called "${tool}".`);
      if (result === "changed")
        throw refusal("CONFLICT", "The server has changed this tool since it was shown. Look at it again.");
      if (result === "fixed")
        throw refusal(
          "BAD_REQUEST",
          "The file of whoever runs Troupe (TROUPE_TOOLS_FILE) says what this tool does. Change it there.",
        );
      ctx.note("mcp_tool_corrected", { server: name, tool, fingerprint, word: word && (word as JsonObject) });
      return statusOf(mcp.list(), name);
    }),

  /** Takes an approval back. */
  withdraw: procedure.input(z.object({ name: z.string(), tool: z.string() })).mutation(({ ctx, input }) => {
    const { mcp } = toolSourcesOf(ctx.troupe);
    if (mcp.withdraw(input.name, input.tool))
      ctx.note("mcp_approval_withdrawn", { server: input.name, tool: input.tool });
    return statusOf(mcp.list(), input.name);
  }),
});

/** The page to which people come back. */
const SIGN_IN_PATH = "/tools/sign-in";

const ownerOf = ({ kind, id }: Principal) => `${kind}:${id}`;

/** Why a sign-in failed is for whoever asked for it. */
async function readably<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof Error && error.name === "SignInFailure") throw refusal("BAD_REQUEST", error.message);
    throw error;
  }
}

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
