import { z } from "zod";
import { Rejection } from "@/server/domain/errors/rejection";
import { operationsOf } from "./operation";

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
