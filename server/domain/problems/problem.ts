import type { Library } from "@/server/domain/library/library";
import type { ModelChoice } from "@/server/domain/library/model-uses";
import type { Fix } from "./fixes";

/** Something wrong with a workflow, with its place and what to do about it. Errors stop a run, warnings do not. */
export interface Problem {
  severity: "error" | "warning";
  code: string;
  message: string;
  at: {
    kind: "workflow" | "node" | "edge";
    id?: string;
    /** The field of the settings, dotted: `required_role`, `conditions.0`, `input_mapping.name`. */
    field?: string;
    /** Offsets into the field's text. */
    from?: number;
    to?: number;
  };
  fix?: Fix;
  /** Advice: the workflow works as it is, and a person may say that they know. */
  dismiss?: Fix;
}

/** What is known of the installation. Where something is left out, nothing is said about it. */
export interface ProblemContext {
  /** Whether a model's price is known. */
  isPriceKnown?: ((choice: ModelChoice) => boolean) | undefined;
  /** Whether there is a tool of this name, or a server for `mcp:server/*`. */
  isToolKnown?: ((name: string) => boolean) | undefined;
  /** Why a tool that there is cannot be used yet; null where it can. */
  whyUnavailable?: ((name: string) => string | null) | undefined;
  /** Whether a tool changes something outside, such as sending a message. */
  actsOutside?: ((name: string) => boolean) | undefined;
  /** The crews and agents that may be named. */
  library?: Library | undefined;
  /** Whether crews may let delegates keep the tools of their own roles; left out: they may. */
  delegatesMayKeepTools?: boolean | undefined;
  /** Keys of what this workflow may not use here, although it would: nobody allowed it when its file came in. */
  withheld?: readonly string[] | undefined;
}
