import type { RunInputField } from "@/server/domain/graph/run-input";

/** What a visitor sees of a form. Without `fields`, its password is asked for first. */
export interface FormPage {
  title: string;
  description?: string;
  fields?: RunInputField[];
}
