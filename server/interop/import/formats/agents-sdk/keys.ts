import { freshId, toId } from "@/server/domain/base/ids";

/** State keys for what a program calls by its own names: the same thing has the same key, two things never share one. */
export class Keys {
  private readonly known = new Map<string, string>();
  private readonly used = new Set<string>();

  /** The key of a thing; `wanted`: the name that it has if that is free, `or`: the name that it has otherwise. */
  of(thing: string, wanted: string, or = wanted): string {
    const known = this.known.get(thing);
    if (known !== undefined) return known;
    const name = this.used.has(safe(wanted)) ? safe(or) : safe(wanted);
    const key = freshId(name, this.used);
    this.used.add(key);
    this.known.set(thing, key);
    return key;
  }
}

const safe = (name: string): string => (toId(name) || "value").replace(/[^A-Za-z0-9_]+/g, "_");
