import { readFileSync } from "node:fs";
import path from "node:path";
import { lexer, type Tokens } from "marked";
import { DOCS, type DocHeading, headingId } from "./domain/text/doc-links";

/** A page's Markdown; null if there is no such page. */
export function readDoc(slug: string): string | null {
  const page = DOCS.find((doc) => doc.slug === slug);
  return page ? readFileSync(path.join(/* turbopackIgnore: true */ process.cwd(), page.file), "utf8") : null;
}

/** The meaning of each term of the glossary as plain text, by its name in lower case. */
export const glossary = (): Record<string, string> =>
  Object.fromEntries(
    lexer(readDoc("glossary") ?? "")
      .filter((token): token is Tokens.Table => token.type === "table")
      .flatMap(({ rows }) => rows)
      .flatMap(([term, meaning]) =>
        [...(term?.text ?? "").matchAll(/\*\*(.+?)\*\*/g)].map(([, name = ""]) => [
          name.toLowerCase(),
          (meaning?.text ?? "").replace(/[*`]/g, ""),
        ]),
      ),
  );

/** Every heading of the docs below the titles, for the search. */
export const docHeadings = (): DocHeading[] =>
  DOCS.flatMap(({ slug, title }) =>
    lexer(readDoc(slug) ?? "")
      .filter((token): token is Tokens.Heading => token.type === "heading" && token.depth > 1)
      .map(({ text }) => ({ title, heading: text, href: `/docs/${slug}#${headingId(text)}` })),
  );
