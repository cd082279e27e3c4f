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

test("a client that registered itself stays with its address, one that was entered with whom it was first used", () => {
  expect(isKnownTo(client({}), server.issuer, BACK)).toBe(true);
  expect(isKnownTo(client({}), server.issuer, "https://elsewhere.test")).toBe(false);
  expect(isKnownTo(client({ by_hand: true, issuer: null }), server.issuer, "https://elsewhere.test")).toBe(
    true,
  );
  expect(isKnownTo(client({ by_hand: true }), "https://other.test", BACK)).toBe(false);
  expect(isKnownTo(null, server.issuer, BACK)).toBe(false);
});

test("what a person entered is not given to whomever the server names next", () => {
  const entered = client({ by_hand: true, issuer: "https://before.test" });
  expect(() => refusingMove(entered, server)).toThrow("auth.test instead of before.test");
  expect(refusingMove(client({}), server)).toBe(server);
});

test("the server's own word goes before the list of all, and what is held already stays", () => {
  expect(wantedScope(server, null, null)).toBe("read write");
  expect(wantedScope(server, "delete", null)).toBe("delete");
  expect(wantedScope(server, "delete", "read")).toBe("read delete");
});
