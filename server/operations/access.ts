import { z } from "zod";
import { Rejection } from "@/server/domain/errors/rejection";
import { operationsOf } from "./operation";

const { mutation, query } = operationsOf("Server");

const TokenName = z.string().trim().min(1, "Give the token a name").max(80);
const TOKENS = "a token makes no further tokens";

/** Tokens for the HTTP API. */
export const accessOperations = {
  tokens: query({
    name: "listTokens",
    summary: "Lists the API tokens",
    needs: "admin",
    input: z.void(),
    http: { personOnly: TOKENS },
    run: ({ tokens }) => tokens.list(),
  }),

  createToken: mutation({
    name: "createToken",
    summary: "Creates an API token",
    needs: "admin",
    input: z.object({ name: TokenName }),
    audits: ["token_made"],
    http: { personOnly: TOKENS },
    run({ tokens }, { name }, { note }) {
      const created = tokens.create(name);
      note("token_made", { token: name, id: created.id });
      return created;
    },
  }),

  revokeToken: mutation({
    name: "revokeToken",
    summary: "Revokes an API token",
    needs: "admin",
    input: z.object({ id: z.string() }),
    problems: ["not_found"],
    audits: ["token_revoked"],
    http: { personOnly: TOKENS },
    run({ tokens }, { id }, { note }) {
      if (!tokens.revoke(id)) throw new Rejection("not_found", "This token does not exist any more.");
      note("token_revoked", { token: tokens.nameOf(id) ?? "", id });
      return {};
    },
  }),
};
