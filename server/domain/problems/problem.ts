import type { CalledWorkflows } from "@/server/domain/graph/callable";
import type { Library } from "@/server/domain/library/library";
import type { ModelChoice } from "@/server/domain/library/model-uses";
import type { KnownSecret } from "@/server/domain/tool/secret";
import type { Fix } from "./fixes";

/** A problem of a workflow, with its place and a repair. Errors stop a run, warnings do not. */
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
  /** Set for advice, which a person may dismiss: the workflow works as it is. */
  dismiss?: Fix;
}

/** What is known about the installation. Checks that need an absent part are skipped. */
export interface ProblemContext {
  /** Whether a model's price is known. */
  isPriceKnown?: ((choice: ModelChoice) => boolean) | undefined;
  /** Whether there is a tool of this name, or a server for `mcp:server/*`. */
  isToolKnown?: ((name: string) => boolean) | undefined;
  /** Why an existing tool can't be used yet; null if it can. */
  whyUnavailable?: ((name: string) => string | null) | undefined;
  /** Whether a tool has an external effect, such as sending a message. */
  actsOutside?: ((name: string) => boolean) | undefined;
  /** The crews and agents that nodes may refer to. */
  library?: Library | undefined;
  /** The workflows that nodes may run. */
  workflows?: CalledWorkflows | undefined;
  /** Whether crews may let delegates keep the tools of their own roles; default true. */
  delegatesMayKeepTools?: boolean | undefined;
  /** The secrets of this installation, by name. */
  secrets?: ((name: string) => KnownSecret | undefined) | undefined;
  /** Names of the variables that its runs can read. */
  variables?: ReadonlySet<string> | undefined;
  /** Keys of the grants that this workflow needs and that no one gave when its file was imported. */
  withheld?: readonly string[] | undefined;
}
