import { asTemplate } from "@/server/domain/text/template/template";
import { trimmed } from "../../trimmed";

/** A variable of CrewAI's texts. JSON's braces hold none; of `{{x}}` the outer braces stay. */
const VARIABLE = /\{([A-Za-z_][A-Za-z0-9_-]*)\}/g;

/** The variables of a text, each once. */
export const variablesIn = (...texts: readonly string[]): string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(VARIABLE)].map(([, name = ""]) => name))),
];

/** Converts a text with variables to our template syntax; all other braces stay unchanged. */
export function toTemplate(text: string, keyOf: (variable: string) => string): string {
  let template = "";
  let from = 0;
  for (const found of text.matchAll(VARIABLE)) {
    template += `${literal(text.slice(from, found.index))}{{${keyOf(found[1] ?? "")}}}`;
    from = found.index + found[0].length;
  }
  return template + asTemplate(text.slice(from));
}

/** A text before a value: a brace at its end would be taken for one of the value's own. */
export const literal = (text: string): string =>
  text.endsWith("{") ? `${asTemplate(text.slice(0, -1))}{{ "{" }}` : asTemplate(text);

const JOINS = new Set(["for", "of", "in", "on", "about", "to", "with", "at", "the", "and"]);

/** A name without its variables: "Analyst for {topic}" becomes "Analyst". */
export function plainName(text: string): string {
  const terms: string[] = [];
  for (const word of text.replace(VARIABLE, " \u0000 ").split(/\s+/))
    if (word !== "\u0000") terms.push(word);
    else while (JOINS.has((terms.at(-1) ?? "").toLowerCase())) terms.pop();
  return trimmed(terms.join(" "), " ,;:–-");
}
