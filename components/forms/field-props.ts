import type { FieldOf } from "@/server/domain/base/form";

/** A field without its value. */
export type FieldData = Omit<FieldOf<never, string, string>, "key" | "as" | "showIf" | "usual">;

/** The props of every field variant. Values may come from files, so each variant checks them. `Given`: what it sets. */
export interface FieldProps<Given = unknown> {
  label: string;
  /** The label is already visible above. */
  hideLabel?: boolean | undefined;
  hint?: string | undefined;
  error?: string | undefined;
  value: unknown;
  onChange: (value: Given) => void;
}
