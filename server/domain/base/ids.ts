/** What an id is of; it stands in front of the id, so that nobody passes one for the other unseen. */
export type IdPrefix = "wf" | "run" | "role" | "tok" | "prov" | "ses" | "sec" | "art" | "trg" | "form";

// 32 characters, so that every random byte maps to one without bias; no i, l, o, u that read like others or spell words.
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH = 20;

/** A new id with 100 random bits, for example `wf_8m3k…`. */
export function newId<P extends IdPrefix>(prefix: P): `${P}_${string}` {
  let id = "";
  for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) id += ALPHABET[byte & 31];
  return `${prefix}_${id}`;
}

/** The first free id of `agent_task`, `agent_task_2`, ...; `taken`: the ids in use, or a record keyed by them. */
export function freshNodeId(
  type: string,
  taken: Iterable<string> | Readonly<Record<string, unknown>>,
): string {
  return freshId(type, new Set(Symbol.iterator in taken ? taken : Object.keys(taken)));
}

/** The first free id of `edge_1`, `edge_2`, ... */
export function freshEdgeId(taken: Iterable<string>): string {
  const used = new Set(taken);
  for (let n = 1; ; n++) if (!used.has(`edge_${n}`)) return `edge_${n}`;
}

/**
 * `base` itself, or with a number behind it that makes it new; at most 64 characters. It is the first free number; among
 * thousands, where each before it is taken.
 */
export function freshId(base: string, taken: { has(id: string): boolean }): string {
  if (!taken.has(base)) return base;
  const idOf = (n: number) => `${base.slice(0, 63 - String(n).length)}_${n}`;
  let free = 2;
  while (free < 100 && taken.has(idOf(free))) free++;
  let used = free - 1;
  for (; taken.has(idOf(free)); free *= 2) used = free;
  while (free - used > 1) {
    const middle = (used + free) >> 1;
    if (taken.has(idOf(middle))) used = middle;
    else free = middle;
  }
  return idOf(free);
}

/** Makes an id of any text: `Get approval!` -> `Get_approval`. Empty if nothing of it can stay. */
export function toId(text: string): string {
  const kept = text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^A-Za-z0-9_.-]+/g, "_")
    // An id begins with a letter; one leading underscore of its own may stay.
    .replace(/^[^A-Za-z]+(?=[A-Za-z])/, (start) => (text.startsWith(start) && start === "_" ? "_" : ""))
    .slice(0, 64)
    .replace(/(?<!_)_+$/, "");
  if (!/^[A-Za-z_]/.test(kept)) return "";
  return kept === "prototype" || kept === "constructor" ? `${kept}_` : kept;
}
