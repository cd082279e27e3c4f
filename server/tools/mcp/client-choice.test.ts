import { expect, test } from "vitest";
import { isKnownTo, refusingMove, wantedScope } from "./client-choice";
import type { OauthClient } from "./oauth-grant";

const BACK = "https://here.test/tools/sign-in";
const server = {
  issuer: "https://auth.test",
  metadata: undefined,
  resource: null,
  scopes: ["read", "write"],
};
const client = (about: Partial<OauthClient>): OauthClient => ({
  client_id: "us",
  client_secret: null,
  token_endpoint_auth_method: null,
  private_key: null,
  by_hand: false,
  as_program: false,
  issuer: server.issuer,
  redirect_uri: BACK,
  ...about,
});

test("a registered client is bound to its address, an entered client to its first authorization server", () => {
  expect(isKnownTo(client({}), server.issuer, BACK)).toBe(true);
  expect(isKnownTo(client({}), server.issuer, "https://elsewhere.test")).toBe(false);
  expect(isKnownTo(client({ by_hand: true, issuer: null }), server.issuer, "https://elsewhere.test")).toBe(
    true,
  );
  expect(isKnownTo(client({ by_hand: true }), "https://other.test", BACK)).toBe(false);
  expect(isKnownTo(null, server.issuer, BACK)).toBe(false);
});

test("an entered client is not sent to another authorization server that the server names", () => {
  const entered = client({ by_hand: true, issuer: "https://before.test" });
  expect(() => refusingMove(entered, server)).toThrow("auth.test instead of before.test");
  expect(refusingMove(client({}), server)).toBe(server);
});

test("the challenge's scope overrides all listed scopes, and granted scopes are kept", () => {
  expect(wantedScope(server, null, null)).toBe("read write");
  expect(wantedScope(server, "delete", null)).toBe("delete");
  expect(wantedScope(server, "delete", "read")).toBe("read delete");
});
