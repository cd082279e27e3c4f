import { recordOf } from "@/server/domain/base/guards";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { evolve, newRun } from "..";
import type { RunEvent, RunEventOf } from "../events";
import { changesBetween, type KeyChange } from "./step-change";

/** What a person saw when they answered. */
export interface AskedPerson {
  /** The question as it stood when it was answered; its time to answer may have been made longer meanwhile. */
  asked: RunEventOf<"interaction_requested">["payload"];
  asked_seq: number;
  asked_at: number;
  answered?: RunEventOf<"interaction_answered">["payload"];
  answered_seq?: number;
  answered_at?: number;
  /** The state at the moment of the answer, or the current state if there is none. */
  state: Readonly<Record<string, Json>>;
  /** What of the state changed after the question was asked and before it was answered: they may have seen the older. */
  changed_meanwhile: readonly KeyChange[];
}

/** What a person was shown by a question, and how they answered; null where the log has no such question. */
export function askedPerson(events: readonly RunEvent[], interactionId: string): AskedPerson | null {
  const state = newRun();
  let found: Omit<AskedPerson, "state" | "changed_meanwhile"> | null = null;
  let before: JsonObject = {};
  for (const event of events) {
    if (isAbout(event, interactionId)) {
      if (event.type === "interaction_requested") {
        found = { asked: event.payload, asked_seq: event.seq, asked_at: event.ts };
        before = { ...state.state };
      }
      if (event.type === "interaction_extended" && found)
        found = { ...found, asked: { ...found.asked, expires_at: event.payload.expires_at } };
      if (event.type === "interaction_answered" && found) {
        found = { ...found, answered: event.payload, answered_seq: event.seq, answered_at: event.ts };
        break;
      }
    }
    evolve(state, event);
  }
  return (
    found && {
      ...found,
      state: { ...state.state },
      changed_meanwhile: changesBetween(before, state.state),
    }
  );
}

const isAbout = ({ payload }: RunEvent, id: string): boolean => recordOf(payload).interaction_id === id;
