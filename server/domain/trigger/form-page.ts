import type { RunInputField } from "@/server/domain/graph/run-input";

/** A form as a visitor sees it. Without `fields`, the visitor must enter its password first. */
export interface FormPage {
  title: string;
  description?: string;
  fields?: RunInputField[];
}
