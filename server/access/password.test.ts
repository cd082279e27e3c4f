import { expect, test } from "vitest";
import { LIMITS } from "../limits";
import { hashPassword, isPassword, newTries } from "./password";

test("only the right password matches its hash, in any Unicode normalization", async () => {
  const hash = await hashPassword("Zwölf é");
  expect(hash).toMatch(/^scrypt:[\w+/]{22}==:[\w+/]{43}=$/);
  expect(hash).not.toBe(await hashPassword("Zwölf é"));
  expect(await isPassword("Zwo\u0308lf e\u0301", hash)).toBe(true);
  expect(await isPassword("Zwolf e", hash)).toBe(false);
});

test("no password matches a damaged hash", async () => {
  expect(await isPassword("", "scrypt:c2FsdA==:c2hvcnQ=")).toBe(false);
  expect(await isPassword("", "")).toBe(false);
});

const MINUTE = 60_000;

test("sign-in attempts count for a minute", () => {
  const tries = newTries();
  expect([0, 1, 2, 3, MINUTE - 1].map((at) => tries.take(at))).toEqual([0, 0, 0, 0, 0]);
  // The first one is a minute old, and the next one may take its place.
  expect(tries.take(MINUTE)).toBe(0);
  expect(tries.take(MINUTE)).toBe(60);
});

test("sign-in waits double up to a maximum and reset after a quiet minute", () => {
  const tries = newTries();
  for (let n = 0; n < LIMITS.login.tries; n++) tries.take(0);
  let now = 0;
  const waits: number[] = [];
  for (let n = 0; n < 6; n++) {
    const waitS = tries.take(now);
    waits.push(waitS);
    expect(tries.take(now + waitS * 1_000 - 1)).toBe(1);
    now += waitS * 1_000;
    expect(tries.take(now)).toBe(0);
  }
  expect(waits).toEqual([60, 120, 240, 480, 900, 900]);
  expect([tries.take(now + MINUTE), tries.take(now + MINUTE)]).toEqual([0, 900]);
  tries.clear();
  expect(Array.from({ length: 6 }, () => tries.take(now))).toEqual([0, 0, 0, 0, 0, 60]);
});
