import { z } from "zod";
import type { KeptOauth } from "@/server/store/library/mcp-servers";
import { hostIn } from "./client-choice";
import { readable } from "./definition";
import { OauthClient, OauthGrant } from "./oauth-grant";

const Kept = z.object({ client: OauthClient.nullable(), grant: OauthGrant.nullable() });
export type Kept = z.infer<typeof Kept>;

const NOTHING: Kept = { client: null, grant: null };

export interface AccessParts {
  /** The server's address; undefined once it was removed. */
  url(): string | undefined;
  /** What is kept, sealed, with the server and its address. */
  read(): KeptOauth | null;
  /** Refused (false) where the server has another address by now. */
  write(url: string, kept: KeptOauth | null): boolean;
}

/** The client and the access of one server as they are kept, sealed, with its address. */
export class KeptAccess {
  constructor(private readonly parts: AccessParts) {}

  read(): Kept {
    try {
      return Kept.parse(JSON.parse(this.parts.read()?.text ?? "null"));
    } catch {
      // What cannot be opened or read is no access; signing in again replaces it.
      return NOTHING;
    }
  }

  /** False where the server has another address by now. */
  write(url: string, kept: Kept): boolean {
    const { client, grant } = kept;
    const secrets = [
      client?.client_secret,
      client?.private_key,
      grant?.access_token,
      grant?.refresh_token,
    ].filter((one) => one != null);
    return this.parts.write(url, client || grant ? { text: JSON.stringify(kept), secrets } : null);
  }
}

export interface SignInStatus {
  state: "none" | "signed_in";
  /** Who granted access. */
  host: string | null;
  scope: string | null;
  /** When the token ends, Unix milliseconds. */
  until: number | null;
  /** It is renewed without a person. */
  renews: boolean;
  /** A client ID that was entered. */
  client_id: string | null;
  has_client_secret: boolean;
  has_private_key: boolean;
  /** The client is granted access itself, and no person signs in. */
  as_program: boolean;
  /** Rights that the server asked for beyond those that it was granted. */
  wants_more: string | null;
}

/** What people are shown of it. `wantsMore`: rights that the server asked for beyond those that it was granted. */
export const statusOf = ({ client, grant }: Kept, wantsMore: string | null): SignInStatus => ({
  state: grant ? "signed_in" : "none",
  host: grant && hostIn(grant.issuer),
  scope: grant?.scope || null,
  until: grant?.expires_at ?? null,
  renews: grant?.refresh_token != null,
  client_id: client?.by_hand ? client.client_id : null,
  has_client_secret: client?.by_hand === true && client.client_secret !== null,
  has_private_key: client?.private_key != null,
  as_program: client?.as_program === true,
  wants_more: wantsMore === null ? null : readable(wantsMore).slice(0, 500) || "unspecified",
});
