import { expect, test } from "vitest";
import { audienceOf } from "./audience";

test("the start says to whom the app is open", () => {
  expect(audienceOf("open", {})).toEqual([
    "Other machines cannot reach it. Every program and every user of this machine can use it: nothing asks who they are.",
    "To let in only who has a one-time link: npm start -- --link",
  ]);
  expect(audienceOf("open", { TROUPE_PROGRAM: "troupe" })[1]).toBe(
    "To let in only who has a one-time link: troupe --link",
  );
  expect(audienceOf("open", { TROUPE_PUBLIC_URL: "https://troupe.example.org" })).toEqual([
    "Whoever reaches https://troupe.example.org reaches it, and nothing asks who they are. To ask for a password, set TROUPE_PASSWORD.",
  ]);
  expect(audienceOf("link", { HOST: "::1" })).toEqual([
    "Other machines cannot reach it. The link above works once; nobody comes in without one. Each start prints a new one.",
  ]);
  expect(audienceOf("password", { HOST: "0.0.0.0" })).toEqual([
    "Other machines can reach it. It asks everybody for the password.",
  ]);
});
