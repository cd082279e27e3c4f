import type { FieldOf } from "@/server/domain/base/form";

/** What a field says of itself, without what it shows. */
export type FieldData = Omit<FieldOf<never, string, string>, "key" | "as" | "showIf" | "usual">;

/** What every look of a field is given. Values come from files: each look checks what it can show. `Given`: what it sets. */
export interface FieldProps<Given = unknown> {
  label: string;
  /** The label already stands above, for all to see. */
  hideLabel?: boolean | undefined;
  hint?: string | undefined;
  error?: string | undefined;
  value: unknown;
  onChange: (value: Given) => void;
}
