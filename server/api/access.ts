import { TRPCError } from "@trpc/server";
import { z } from "zod";
import packageJson from "@/package.json";
import { accessFacts } from "@/server/access/current";
import { procedure, refusal, router } from "./trpc";

/** Only a person in a browser hands out tokens; a token cannot make more of itself. */
const bySession = procedure.use(({ ctx, next }) => {
  if (ctx.principal.kind !== "session")
    throw refusal("FORBIDDEN", "Tokens are made and revoked in the settings, by a person.");
  return next();
});

const TokenName = z.string().trim().min(1, "Give the token a name").max(80);

/** Tokens for the HTTP API, and facts about this server. */
export const accessRouter = router({
  tokens: bySession.query(({ ctx }) => ctx.troupe.tokens.list()),

  createToken: bySession.input(z.object({ name: TokenName })).mutation(({ ctx, input }) => {
    const made = ctx.troupe.tokens.create(input.name);
    ctx.note("token_made", { token: input.name, id: made.id });
    return made;
  }),

  revokeToken: bySession.input(z.object({ id: z.string() })).mutation(({ ctx, input }) => {
    if (!ctx.troupe.tokens.revoke(input.id))
      throw new TRPCError({ code: "NOT_FOUND", message: "This token does not exist any more." });
    ctx.note("token_revoked", { token: ctx.troupe.tokens.nameOf(input.id) ?? "", id: input.id });
    return {};
  }),

  info: procedure.query(() => ({ version: packageJson.version, ...accessFacts() })),
});
