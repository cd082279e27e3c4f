import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { LIMITS } from "../limits";

const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 };

/** Turns a password into something that may be written down: slow to try, different each time. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  return `scrypt:${salt.toString("base64")}:${(await derive(password, salt)).toString("base64")}`;
}

export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [, salt = "", expected = ""] = hash.split(":");
  const wanted = Buffer.from(expected, "base64");
  const given = await derive(password, Buffer.from(salt, "base64"));
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

const derive = (password: string, salt: Buffer) =>
  new Promise<Buffer>((resolve, reject) => {
    // The same password typed on another keyboard may be composed of other code points.
    scrypt(password.normalize("NFC"), salt, 32, COST, (error, key) => (error ? reject(error) : resolve(key)));
  });

/** Counts wrong passwords. A server has one person, so it has one count; nobody can be told apart before they signed in. */
export interface Tries {
  /** Takes one try; answers 0, or the seconds to wait. */
  take(now: number): number;
  /** The password was right. */
  clear(): void;
}

export function newTries(): Tries {
  const { tries, windowMs, firstWaitMs, longestWaitMs } = LIMITS.login;
  let taken: number[] = [];
  let waits = 0;
  let blockedUntil = 0;
  return {
    take(now) {
      if (now < blockedUntil) return Math.ceil((blockedUntil - now) / 1_000);
      taken = taken.filter((at) => now - at < windowMs);
      // After the first wait, one try at a time: each wrong one doubles the next wait.
      if (taken.length >= tries || (waits > 0 && taken.length > 0)) {
        const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** waits++);
        blockedUntil = now + waitMs;
        taken = [];
        return Math.ceil(waitMs / 1_000);
      }
      taken.push(now);
      return 0;
    },
    clear() {
      taken = [];
      waits = 0;
      blockedUntil = 0;
    },
  };
}
