import { expect, test } from "vitest";
import { audienceOf } from "./audience";

test("the startup message says who can reach the app and how they sign in", () => {
  expect(audienceOf("open", {})).toEqual([
    "Other machines can't reach it. Any user or program on this machine can use it without signing in.",
    "To require a one-time link: npm start -- --link",
  ]);
  expect(audienceOf("open", { TROUPE_PROGRAM: "troupe" })[1]).toBe(
    "To require a one-time link: troupe --link",
  );
  expect(audienceOf("open", { TROUPE_PUBLIC_URL: "https://troupe.example.org" })).toEqual([
    "Anyone who can reach https://troupe.example.org can use it without a password. Set TROUPE_PASSWORD to require one.",
  ]);
  expect(audienceOf("link", { HOST: "::1" })).toEqual([
    "Other machines can't reach it. The link above is required to sign in and works once. A new link is printed at each start.",
  ]);
  expect(audienceOf("password", { HOST: "0.0.0.0" })).toEqual([
    "Other machines can reach it. Everyone needs the password.",
  ]);
});
