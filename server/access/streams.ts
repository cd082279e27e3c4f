import type { Principal } from "@/server/api/trpc";
import { LIMITS } from "./limits";

const held = globalThis as typeof globalThis & { __troupeStreams?: Map<string, number> };
held.__troupeStreams ??= new Map();
const open = held.__troupeStreams;

/** Takes a place for an event stream: the way to give it back, or why there is none. */
export function takeStream(
  principal: Principal,
  limits: { perPrincipal: number; perProcess: number } = LIMITS.streams,
): { release: () => void } | "too_many_yours" | "too_many" {
  const who = `${principal.kind}:${principal.id}`;
  const own = open.get(who) ?? 0;
  if (own >= limits.perPrincipal) return "too_many_yours";
  let all = 0;
  for (const count of open.values()) all += count;
  if (all >= limits.perProcess) return "too_many";
  open.set(who, own + 1);
  let isReleased = false;
  return {
    release() {
      if (isReleased) return;
      isReleased = true;
      const left = (open.get(who) ?? 1) - 1;
      if (left > 0) open.set(who, left);
      else open.delete(who);
    },
  };
}
