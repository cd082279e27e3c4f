import type { Interaction } from "@/server/domain/run";

/** The current status of a question, wherever the cursor is. */
export interface Standing {
  status: Interaction["status"];
  answered?: Interaction["answered"];
  /** It was answered after its run had ended: nothing came of it. */
  isLate?: true | undefined;
  /** Its run has ended. */
  isOver: boolean;
}

/** The props of a question's card: a run's page and the inbox show the same card. */
export interface AskProps {
  ask: Interaction;
  runId: string;
  standing: Standing;
  /** The title and the addressee are shown above the card already. */
  isTitled?: boolean | undefined;
  /** An answer was taken. */
  onAnswered?: (() => void) | undefined;
  /** An answer was rejected: invalid, too late, or someone else was first. */
  onAnswerFailed?: (() => void) | undefined;
}
