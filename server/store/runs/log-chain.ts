import { hash } from "node:crypto";

/**
 * The chain of hashes through a run's log. Each event's hash is the SHA-256 of the hash before it and of its text as
 * it is stored; a turn begins with a link over what it says besides its events. A turn keeps the first eight bytes of
 * each link, which name the place where a text was changed, and the whole of its last hash, on which the next turn
 * builds. The row of the run keeps the newest, so that a missing end is seen as well.
 */
export interface ChainedTurn {
  runId: string;
  turn: number;
  at: number;
  key: string | null;
  /** As stored: JSON. */
  result: string | null;
  inlined: number;
}

const LINK_BYTES = 8;
const HASH_BYTES = 32;
/** What the first turn of every run builds on. */
export const CHAIN_START = "0".repeat(2 * HASH_BYTES);

const next = (before: string, text: string) => hash("sha256", before + text, "hex");
const linkOf = (digest: string) => digest.slice(0, 2 * LINK_BYTES);
const headOf = ({ runId, turn, at, key, result, inlined }: ChainedTurn) =>
  JSON.stringify([runId, turn, at, key, inlined, result]);

/** Chains a turn to the hash before it. `last`: on what the next one builds, 64 hexadecimal digits. */
export function chainTurn(
  before: string,
  turn: ChainedTurn,
  texts: readonly string[],
): { chain: Buffer; last: string } {
  let last = next(before, headOf(turn));
  let links = linkOf(last);
  for (const text of texts) {
    last = next(last, text);
    links += linkOf(last);
  }
  return { chain: Buffer.from(links + last, "hex"), last };
}

/** The hash with which a stored turn ends; empty where the chain is too short to be one. */
export const lastOf = (chain: Buffer): string =>
  chain.length < LINK_BYTES + HASH_BYTES ? "" : chain.toString("hex", chain.length - HASH_BYTES);

/**
 * Compares a stored turn with its hash chain. Null: they agree. "head": the turn's data besides its events differs, or
 * its predecessor does. A number: index of the first event that differs.
 */
export function firstBreak(
  before: string,
  turn: ChainedTurn,
  texts: readonly string[],
  chain: Buffer,
): "head" | number | null {
  const made = chainTurn(before, turn, texts).chain;
  const linkAt = (of: Buffer, at: number) => of.subarray(at * LINK_BYTES, (at + 1) * LINK_BYTES);
  if (!linkAt(made, 0).equals(linkAt(chain, 0))) return "head";
  const written = (chain.length - HASH_BYTES) / LINK_BYTES - 1;
  for (let at = 0; at < Math.min(written, texts.length); at++)
    if (!linkAt(made, at + 1).equals(linkAt(chain, at + 1))) return at;
  if (written !== texts.length) return Math.min(written, texts.length);
  return made.equals(chain) ? null : "head";
}
