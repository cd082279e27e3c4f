import { createHash } from "node:crypto";
import { type AgentStep, findStuck } from "@/server/domain/agent/stuck";
import type { Version } from "@/server/domain/base/changes";
import { canonicalJson } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import { sizeOf } from "@/server/domain/base/sizes";
import type { JsonObject } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";

/** A value so long is compared by where it came from, not by what it says. */
const LONG_VALUE = 10_000;

const hashOf = (state: object): string => createHash("sha256").update(canonicalJson(state)).digest("hex");

/** Detects loops whose iterations change nothing. */
export class LoopWatch {
  /** Iterations of loops with the state at their start. */
  private readonly rounds: AgentStep[] = [];
  /** Long values in the state at the start of an iteration, numbered. */
  private readonly longValues = new WeakMap<Version, number>();
  private longCount = 0;

  /** A round begins at this node. Answers what is to be said about it, or null. */
  round(node_id: string, s: RunState): string | null {
    this.rounds.push({ kind: "iteration", node_id, state_hash: hashOf(this.fingerprints(s)) });
    const stuck = findStuck(this.rounds);
    if (stuck?.severity !== "nudge") return null;
    this.rounds.push({ kind: "nudge", pattern: stuck.pattern });
    return stuck.message;
  }

  /** The state, with a number in place of each long value: another one whenever that changes. */
  private fingerprints({ state, versions }: RunState): JsonObject {
    return Object.fromEntries(
      Object.keys(state).map((key) => {
        if (sizeOf(state[key]) < LONG_VALUE) return [key, must(state, key)];
        const version = must(versions, key);
        const known = this.longValues.get(version) ?? ++this.longCount;
        this.longValues.set(version, known);
        return [key, known];
      }),
    );
  }
}
