import type { RaisableLimit } from "@/server/domain/agent/outcome";
import type { Durable, DurableContext, Flow } from "@/server/domain/base/durable";
import type { MessageEdit } from "../fork/apply-fork";
import type { Effects } from "../node/ports";
import type { Advice } from "./advice";
import type { Place } from "./places";
import type { RunLog } from "./run-log";
import type { Steps } from "./steps";

/** What an attempt of a node needs of the interpreter. The parts that depend on attempts are described, not imported. */
export interface Engine {
  readonly effects: Effects;
  readonly context: DurableContext;
  readonly log: Pick<RunLog, "s" | "a" | "at" | "apply">;
  readonly steps: Pick<Steps, "step">;
  readonly pauses: { arrive(place: Place): Flow<void>; whilePaused(): Flow<boolean> };
  readonly escalation: {
    readonly isAsking: boolean;
    /** Waits while a person is asked whether the run continues. */
    hold(node_id: string, activation_id: string): Flow<void>;
  };
  readonly limits: {
    /** The limit that forbids another call now, if any. */
    beforeCall(): RaisableLimit | null;
    /** Waits until a person has raised the limit. */
    hold(activationId: string, limit: RaisableLimit): Flow<void>;
    raise(limit: RaisableLimit, to: number, by: string): void;
    openLater(): void;
    childEnded(activeMs: number): void;
  };
  /** Of an activation's present attempt: its clock, and whether a person edited its plan meanwhile. */
  readonly attempts: {
    planEdited(activationId: string): Durable;
    startClock(activationId: string): void;
    stopClock(activationId: string): void;
  };
  readonly advice: Pick<Advice, "expect">;
  /** A point at which nothing has begun yet that is about to: where a fork leaves its original's ways. */
  reached(): boolean;
  /** What messages of an agent's transcript say instead since a fork. */
  editsOf(agent: string): readonly MessageEdit[];
}
