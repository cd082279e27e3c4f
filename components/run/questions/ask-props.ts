import type { Interaction } from "@/server/domain/run";

/** How a question stands now, whichever moment of its run is looked at. */
export interface Standing {
  status: Interaction["status"];
  answered?: Interaction["answered"];
  /** It was answered after its run had ended: nothing came of it. */
  isLate?: true | undefined;
  /** Its run has ended. */
  isOver: boolean;
}

/** What the card of a question needs of the page around it: a run's page and the inbox show the same card. */
export interface AskProps {
  ask: Interaction;
  runId: string;
  standing: Standing;
  /** Its title, and for whom it is, stand above the card already. */
  isTitled?: boolean | undefined;
  /** An answer was taken. */
  onAnswered?: (() => void) | undefined;
  /** An answer was not taken: it does not fit, somebody was first, or the time was over. */
  onAnswerFailed?: (() => void) | undefined;
}
