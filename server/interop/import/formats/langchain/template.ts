import type { Findings } from "@/server/domain/base/lenient-reader";
import { asTemplate } from "@/server/domain/text/template/template";

/** Where a text stands, and the state keys of its variables. */
interface Filling {
  keyFor: (name: string) => string;
  report: Findings;
  at: string;
}

/** A text of LangChain as a template here; null if it must not be filled in (jinja2). */
export function toTemplate(text: string, format: string, filling: Filling): string | null {
  if (format === "jinja2") return null;
  return format === "mustache" ? ofMustache(text, filling) : ofFString(text, filling);
}

/** `{name}`; doubled braces are literal ones. An access into a value is kept as written. */
function ofFString(text: string, { keyFor, report, at }: Filling): string {
  const pieces = text.split(/(\{\{|\}\}|\{[^{}]*\})/);
  let plain = "";
  let out = "";
  const close = () => {
    out += asTemplate(plain);
    plain = "";
  };
  for (const piece of pieces) {
    const name = /^\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(piece)?.[1];
    if (name !== undefined) {
      close();
      out += `{{${keyFor(name)}}}`;
    } else if (piece === "{{" || piece === "}}") plain += piece.charAt(0);
    else {
      if (/^\{.+\}$/.test(piece))
        report.changed(at, `${piece.slice(0, 80)} is an expression rather than a name and is kept as text.`);
      plain += piece;
    }
  }
  close();
  return out;
}

/** `{{name}}` and `{{{name}}}`; sections are kept as they are written. */
function ofMustache(text: string, { keyFor, report, at }: Filling): string {
  let out = "";
  for (const piece of text.split(/(\{\{\{[^{}]*\}\}\}|\{\{[^{}]*\}\})/)) {
    const name = /^\{\{\{?&?\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}?\}\}$/.exec(piece)?.[1];
    if (name === undefined && /^\{\{/.test(piece))
      report.changed(at, `${piece.slice(0, 80)} is not a plain name and is kept as text.`);
    out += name === undefined ? asTemplate(piece) : `{{${keyFor(name)}}}`;
  }
  return out;
}
