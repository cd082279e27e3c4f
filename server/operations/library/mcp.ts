import { z } from "zod";
import type { Principal } from "@/server/access/principal";
import { isOwnOrigin } from "@/server/access/requests/hosts";
import { asJson } from "@/server/domain/base/json";
import { Rejection } from "@/server/domain/errors/rejection";
import { keyFate } from "@/server/domain/run/audit";
import { McpToolWord } from "@/server/tools/mcp/annotations";
import { isPrivateKey } from "@/server/tools/mcp/private-key";
import { hostOf } from "../addresses";
import { onlyPerson, operationsOf } from "../operation";
import { McpServer } from "./library-schemas";

const { mutation, query } = operationsOf("Tools");

const Name = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]{0,63}$/,
    "Use letters, digits, _ and -, starting with a letter (at most 64 characters)",
  );
const ByName = z.object({ name: z.string() });
const Url = z
  .string()
  .trim()
  .max(2000)
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    "Enter a URL that starts with https:// or http://",
  )
  .refine(
    (text) => !URL.canParse(text) || (new URL(text).username === "" && new URL(text).password === ""),
    "Enter the authorization in its own field, not in the URL",
  );
// A header cannot carry anything else.
const Authorization = z
  .string()
  .trim()
  .max(4000)
  .regex(/^[\x20-\x7e]*$/, "This header contains invalid characters. Copy it again");

const Client = z
  .object({
    client_id: z
      .string()
      .trim()
      .min(1)
      .max(2000)
      .regex(/^[\x20-\x7e]*$/, "A client ID can contain only printable ASCII characters"),
    client_secret: z
      .string()
      .trim()
      .max(2000)
      .regex(/^[\x20-\x7e]*$/, "A client secret can contain only printable ASCII characters")
      .transform((text) => text || null)
      .nullable(),
    private_key: z
      .string()
      .trim()
      .max(20_000)
      .refine(
        isPrivateKey,
        "Enter a PEM private key without a passphrase: RSA with 2048 bits or more, P-256, P-384, P-521 or Ed25519",
      )
      .nullish()
      .transform((key) => key ?? null),
    as_program: z.boolean().default(false),
  })
  .refine(
    ({ as_program, client_secret, private_key }) =>
      !as_program || client_secret !== null || private_key !== null,
    "The client credentials grant requires a client secret or a private key",
  )
  .refine(
    ({ as_program, private_key }) => as_program || private_key === null,
    "Only the client credentials grant uses a private key",
  );
/** What an authorization server adds to the address to which it sends a person back. */
const SignInAnswer = z.object({
  state: z.string().max(200),
  code: z.string().max(8000).optional(),
  iss: z.string().max(2000).optional(),
  error: z.string().max(200).optional(),
  error_description: z.string().max(2000).optional(),
});

const ALL_TOOLS = "agents can use what a server offers, and its URL determines where their data goes";
const WORD = "agents can call only tools that a person has reviewed";
const SIGN_IN = "sign-in must start and finish in the same browser session";

/**
 * MCP servers: where they are, how they are, and what of theirs may be called. The header goes in and never comes out. A
 * program looks, and takes away.
 */
export const mcpOperations = {
  list: query({
    name: "listMcpServers",
    summary: "List MCP servers with their tools and approvals",
    needs: "read",
    input: z.void(),
    output: z.array(McpServer),
    http: { route: "GET /mcp-servers", success: "The current servers", as: "servers" },
    run: ({ toolSources: { mcp } }) => mcp.list(),
  }),

  /** Adds or changes; answers when connecting was tried. */
  add: mutation({
    name: "saveMcpServer",
    summary: "Add or change an MCP server",
    needs: "admin",
    input: z.object({
      name: Name,
      url: Url,
      authorization: Authorization.nullish(),
      client: Client.nullish(),
      is_enabled: z.boolean().optional(),
    }),
    problems: ["fixed"],
    audits: ["mcp_server_added", "mcp_server_changed"],
    http: { personOnly: ALL_TOOLS },
    async run({ toolSources: { mcp } }, { authorization, client, ...server }, { note }) {
      refuseFixed(mcp.list(), server.name);
      const before = mcp.list().find(({ name }) => name === server.name);
      await mcp.save({
        ...server,
        ...(authorization === undefined ? {} : { authorization }),
        ...(client === undefined ? {} : { client }),
      });
      const after = statusOf(mcp.list(), server.name);
      note(before ? "mcp_server_changed" : "mcp_server_added", {
        server: server.name,
        host: hostOf(server.url),
        is_enabled: after.is_enabled,
        key: keyFate(authorization, before?.has_authorization ?? false, after.has_authorization),
      });
      return after;
    },
  }),

  setEnabled: mutation({
    name: "switchMcpServer",
    summary: "Turn off an MCP server",
    about: "Only people can turn it on again.",
    needs: "admin",
    input: z.object({ name: z.string(), is_enabled: z.boolean() }),
    output: McpServer,
    problems: ["not_found", "fixed", "person_only"],
    audits: ["mcp_server_changed"],
    http: { route: "PUT /mcp-servers/{name}/enabled", success: "The current server" },
    async run({ toolSources: { mcp } }, { name, is_enabled }, { note, principal }) {
      if (is_enabled) onlyPerson(principal, ALL_TOOLS);
      refuseFixed(mcp.list(), name);
      if (!(await mcp.setEnabled(name, is_enabled))) throw noServer(name);
      note("mcp_server_changed", { server: name, is_enabled });
      return statusOf(mcp.list(), name);
    },
  }),

  remove: mutation({
    name: "deleteMcpServer",
    summary: "Remove an MCP server and revoke its access",
    needs: "admin",
    input: ByName,
    problems: ["not_found", "fixed"],
    audits: ["mcp_server_removed"],
    http: { route: "DELETE /mcp-servers/{name}", success: "Deleted" },
    async run({ toolSources: { mcp } }, { name }, { note }) {
      refuseFixed(mcp.list(), name);
      if (!(await mcp.remove(name))) throw noServer(name);
      note("mcp_server_removed", { server: name });
      return { name };
    },
  }),

  /**
   * Begins to sign in at a server: answers where the person has to go, who then comes back to this app. `origin`: where
   * the app is open in their browser.
   */
  beginSignIn: mutation({
    name: "beginMcpSignIn",
    summary: "Start signing in to an MCP server",
    needs: "admin",
    input: z.object({ name: z.string(), origin: z.string().max(300) }),
    problems: ["not_found", "fixed"],
    http: { personOnly: SIGN_IN },
    async run({ toolSources: { mcp } }, { name, origin }, { principal }) {
      refuseFixed(mcp.list(), name);
      statusOf(mcp.list(), name);
      if (!isOwnOrigin(origin))
        throw new Rejection(
          "bad_request",
          "To sign in, open Troupe at its own URL. Behind a proxy, set TROUPE_PUBLIC_URL.",
        );
      return readably(mcp.beginSignIn(name, `${origin}${SIGN_IN_PATH}`, ownerOf(principal)));
    },
  }),

  /** Finishes it, once, in the session that began it; answers when connecting was tried. */
  finishSignIn: mutation({
    name: "finishMcpSignIn",
    summary: "Finish signing in to an MCP server",
    needs: "admin",
    input: SignInAnswer,
    audits: ["mcp_signed_in"],
    http: { personOnly: SIGN_IN },
    async run({ toolSources: { mcp } }, { state, ...answer }, { note, principal }) {
      const name = await readably(mcp.finishSignIn(state, ownerOf(principal), answer));
      if (name === null)
        throw new Rejection(
          "bad_request",
          "This sign-in wasn't started in this browser, or it took too long. Start again.",
        );
      const after = statusOf(mcp.list(), name);
      note("mcp_signed_in", { server: name, host: after.sign_in?.host ?? "" });
      return after;
    },
  }),

  /** Gives up the access that was granted; `still_good`: why it may not have ended where it was granted. */
  signOut: mutation({
    name: "signOutOfMcpServer",
    summary: "Revoke access to an MCP server",
    about: "A person can sign in again.",
    needs: "admin",
    input: ByName,
    output: McpServer.extend({
      still_good: z
        .string()
        .nullable()
        .meta({ description: "Why access may not have been revoked on the server" }),
    }),
    problems: ["not_found", "fixed"],
    audits: ["mcp_signed_out"],
    http: { route: "POST /mcp-servers/{name}/sign-out", success: "The current server" },
    async run({ toolSources: { mcp } }, { name }, { note }) {
      const before = statusOf(mcp.list(), name);
      refuseFixed(mcp.list(), name);
      const still_good = await mcp.signOut(name);
      note("mcp_signed_out", { server: name, host: before.sign_in?.host ?? "" });
      return { ...statusOf(mcp.list(), name), still_good };
    },
  }),

  refresh: mutation({
    name: "refreshMcpServer",
    summary: "Reconnect an MCP server and refresh its tools",
    about: "Changed tools can't be called until a person approves them.",
    needs: "admin",
    input: ByName,
    output: McpServer,
    http: { route: "POST /mcp-servers/{name}/refresh", success: "The current server" },
    async run({ toolSources: { mcp } }, { name }) {
      await mcp.refresh(name);
      return statusOf(mcp.list(), name);
    },
  }),

  /** Lets tools be called, exactly as they were shown. Answers which were not: they have changed since, or are gone. */
  approve: mutation({
    name: "approveMcpTools",
    summary: "Approve an MCP server's tools exactly as shown",
    needs: "admin",
    input: z.object({
      name: z.string(),
      tools: z
        .array(z.object({ tool: z.string(), fingerprint: z.string() }))
        .min(1)
        .max(500),
    }),
    problems: ["not_found"],
    audits: ["mcp_tools_approved"],
    http: { personOnly: WORD },
    run({ toolSources: { mcp } }, { name, tools }, { note }) {
      const rejected = tools.flatMap(({ tool, fingerprint }) => {
        const result = mcp.approve(name, tool, fingerprint);
        return result === "approved" ? [] : [{ tool, reason: result }];
      });
      const approved = tools.filter(({ tool }) => !rejected.some((other) => other.tool === tool));
      if (approved.length > 0)
        note("mcp_tools_approved", {
          server: name,
          // With the fingerprint: what was approved is exactly that definition.
          tools: approved.map(({ tool, fingerprint }) => ({ tool, fingerprint })),
        });
      return { refused: rejected, server: statusOf(mcp.list(), name) };
    },
  }),

  /**
   * Says what a tool really does, whatever its server says of itself; a null word takes that back. Refused for another
   * definition than the one that was shown, and where the operator's file says it already.
   */
  correct: mutation({
    name: "correctMcpTool",
    summary: "Override an MCP tool's annotations",
    needs: "admin",
    input: z.object({
      name: z.string(),
      tool: z.string(),
      fingerprint: z.string(),
      word: McpToolWord.nullable(),
    }),
    problems: ["not_found", "changed_meanwhile", "fixed"],
    audits: ["mcp_tool_corrected"],
    http: { personOnly: WORD },
    run({ toolSources: { mcp } }, { name, tool, fingerprint, word }, { note }) {
      statusOf(mcp.list(), name);
      const result = mcp.correct(name, tool, fingerprint, word);
      if (result === "gone") throw new Rejection("not_found", `"${name}" has no tool "${tool}".`);
      if (result === "changed")
        throw new Rejection(
          "changed_meanwhile",
          "The server changed this tool after it was shown. Review it again.",
        );
      if (result === "fixed")
        throw new Rejection(
          "fixed",
          "The operator's tools file (TROUPE_TOOLS_FILE) sets this tool's annotations. Change them there.",
        );
      note("mcp_tool_corrected", { server: name, tool, fingerprint, word: word && asJson(word) });
      return statusOf(mcp.list(), name);
    },
  }),

  withdraw: mutation({
    name: "withdrawMcpTool",
    summary: "Revoke an MCP tool's approval",
    about: "It can't be called until a person approves it again.",
    needs: "admin",
    input: z.object({ name: z.string(), tool: z.string() }),
    output: McpServer,
    audits: ["mcp_approval_withdrawn"],
    http: { route: "POST /mcp-servers/{name}/withdraw", success: "The current server" },
    run({ toolSources: { mcp } }, { name, tool }, { note }) {
      if (mcp.withdraw(name, tool)) note("mcp_approval_withdrawn", { server: name, tool });
      return statusOf(mcp.list(), name);
    },
  }),
};

/** The page to which people come back. */
const SIGN_IN_PATH = "/tools/sign-in";

const ownerOf = ({ kind, id }: Principal) => `${kind}:${id}`;

/** The error of a failed sign-in is shown to the caller. */
async function readably<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    if (error instanceof Error && error.name === "SignInFailure")
      throw new Rejection("bad_request", error.message);
    throw error;
  }
}

const noServer = (name: string) => new Rejection("not_found", `There is no MCP server "${name}".`);

function statusOf<S extends { name: string }>(servers: readonly S[], name: string): S {
  const server = servers.find((other) => other.name === name);
  if (!server) throw noServer(name);
  return server;
}

function refuseFixed(servers: readonly { name: string; from_file: boolean }[], name: string): void {
  if (servers.some((server) => server.name === name && server.from_file))
    throw new Rejection(
      "fixed",
      `"${name}" is declared in the operator's tools file (TROUPE_TOOLS_FILE). Change it there.`,
    );
}
