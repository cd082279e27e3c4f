import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { docHeadings, readDoc } from "@/server/docs";
import { DOCS, docHref } from "@/server/domain/text/doc-links";
import { DocsPage } from "./docs-page";

const html = (slug: string) => renderToStaticMarkup(<DocsPage slug={slug} text={readDoc(slug) ?? ""} />);

test("each docs page contains the headings that the search links to", () => {
  const pages = new Map(DOCS.map(({ slug }) => [slug as string, html(slug)]));
  expect(docHeadings().length).toBeGreaterThan(40);
  for (const { href } of docHeadings()) {
    const [, slug = "", id] = /^\/docs\/([^#]+)#(.+)$/.exec(href) ?? [];
    expect(pages.get(slug), href).toContain(`id="${id}"`);
  }
});

test("each error code has an anchor that errors link to", () => {
  expect(html("errors")).toContain('<tr id="RATE_LIMIT">');
});

test("links between docs pages stay in the app, and links to repository files become plain text", () => {
  expect(docHref("guide.md#run")).toBe("/docs/guide#run");
  expect(docHref("../GLOSSARY.md")).toBe("/docs/glossary");
  expect(docHref("docs/import.md")).toBe("/docs/import");
  expect(docHref("#here")).toBe("#here");
  expect(docHref("../ARCHITECTURE.md")).toBeNull();
  expect(docHref("decisions/README.md")).toBeNull();
  expect(docHref("javascript:alert(1)")).toBeNull();
});

test("an unknown docs page has no text, even with path traversal in its name", () => {
  for (const slug of ["", "nothing", "../package.json", "..%2fpackage.json", "README"])
    expect(readDoc(slug)).toBeNull();
});
