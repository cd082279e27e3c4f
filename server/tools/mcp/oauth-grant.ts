import { z } from "zod";
import { namedError } from "@/server/domain/base/named-error";

// The data of an OAuth sign-in; the steps are in oauth.ts, the storage in sign-in.ts.

/** The client identity of this installation: registered dynamically, or entered by a person. */
export const OauthClient = z.object({
  client_id: z.string(),
  client_secret: z.string().nullable(),
  token_endpoint_auth_method: z.string().nullable(),
  /** In PEM; signs instead of a secret. */
  private_key: z.string().nullable().default(null),
  by_hand: z.boolean(),
  /** It is granted access itself, and no person signs in. */
  as_program: z.boolean().default(false),
  /** Whom it is known to; one entered by hand is bound to the first that it is used with. */
  issuer: z.string().nullable(),
  redirect_uri: z.string().nullable(),
});
export type OauthClient = z.infer<typeof OauthClient>;

/** A client that a person registered at the authorization server themselves. */
export interface OauthClientInput {
  client_id: string;
  client_secret: string | null;
  private_key?: string | null;
  as_program?: boolean;
}

/** What a person granted. */
export const OauthGrant = z.object({
  issuer: z.string(),
  /** What the tokens are for. */
  resource: z.string().nullable(),
  scope: z.string(),
  access_token: z.string(),
  refresh_token: z.string().nullable(),
  /** Unix milliseconds; null: it did not say. */
  expires_at: z.number().nullable(),
  /** What is needed of the authorization server's metadata to renew. */
  server: z.looseObject({}).nullable(),
});
export type OauthGrant = z.infer<typeof OauthGrant>;

/** What a server said when it refused: where it describes who grants access, and which rights it wants. */
export interface Challenge {
  resource_metadata: string | null;
  scope: string | null;
}

/** A failure that a person can read and do something about. */
export class SignInFailure extends namedError("SignInFailure") {}
