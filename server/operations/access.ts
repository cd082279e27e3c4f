import { z } from "zod";
import { SCOPES } from "@/server/domain/base/scopes";
import { Rejection } from "@/server/domain/errors/rejection";
import { operationsOf } from "./operation";
import { workflowOf } from "./workflows/stored-workflow";

const { mutation, query } = operationsOf("Server");

const TokenName = z.string().trim().min(1, "Enter a name").max(80);
const TOKENS = "a token can't create tokens";

/** Tokens for the HTTP API. */
export const accessOperations = {
  tokens: query({
    name: "listTokens",
    summary: "List API tokens",
    needs: "admin",
    input: z.void(),
    http: { personOnly: TOKENS },
    run: ({ tokens }) => tokens.list(),
  }),

  createToken: mutation({
    name: "createToken",
    summary: "Create an API token",
    needs: "admin",
    input: z.object({
      name: TokenName,
      scopes: z.array(z.enum(SCOPES)).min(1, "Choose at least one scope"),
      /** IDs; omitted: all. */
      workflows: z.array(z.string()).min(1, "Choose at least one workflow").max(1_000).optional(),
      /** Unix milliseconds; omitted: never. */
      expires_at: z.int().optional(),
      is_trusted: z.boolean().default(false),
    }),
    problems: ["bad_request", "not_found"],
    audits: ["token_made"],
    http: { personOnly: TOKENS },
    run(services, { name, scopes: chosen, workflows = null, expires_at = null, is_trusted }, { note }) {
      for (const id of workflows ?? []) workflowOf(services, id);
      if (expires_at !== null && expires_at <= Date.now())
        throw new Rejection("bad_request", "The expiry date has passed. Choose a later date.");
      const scopes = SCOPES.filter((scope) => chosen.includes(scope));
      const created = services.tokens.create(name, { scopes, workflows, expires_at, is_trusted });
      note("token_made", { token: name, id: created.id, scopes, workflows, expires_at, is_trusted });
      return created;
    },
  }),

  revokeToken: mutation({
    name: "revokeToken",
    summary: "Revoke an API token",
    needs: "admin",
    input: z.object({ id: z.string() }),
    problems: ["not_found"],
    audits: ["token_revoked"],
    http: { personOnly: TOKENS },
    run({ tokens }, { id }, { note }) {
      if (!tokens.revoke(id)) throw new Rejection("not_found", "This token no longer exists.");
      note("token_revoked", { token: tokens.nameOf(id) ?? "", id });
      return {};
    },
  }),
};
