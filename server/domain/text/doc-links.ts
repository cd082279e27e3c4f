/** The docs that the app shows, in reading order: path below /docs, title and file. */
export const DOCS = [
  { slug: "guide", title: "User guide", file: "docs/guide.md" },
  { slug: "import", title: "Import", file: "docs/import.md" },
  { slug: "glossary", title: "Glossary", file: "GLOSSARY.md" },
  { slug: "errors", title: "Error codes", file: "docs/errors.md" },
  { slug: "cli", title: "Command line", file: "docs/cli.md" },
  { slug: "http-api", title: "HTTP API", file: "docs/http-api.md" },
  { slug: "extending", title: "Extending", file: "docs/extending.md" },
  { slug: "deployment", title: "Deployment", file: "docs/deployment.md" },
  { slug: "scale-out", title: "Scale-out", file: "docs/scale-out.md" },
  { slug: "settings", title: "Settings", file: "docs/settings.md" },
  { slug: "security", title: "Security", file: "SECURITY.md" },
] as const;

export interface DocHeading {
  /** Of its page. */
  title: string;
  heading: string;
  href: string;
}

/** The id of a heading, as GitHub generates it: "Ask a person" becomes `ask-a-person`. */
export const headingId = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

/** Where a link in the docs leads in the app; null for files that only the repository has. */
export function docHref(link: string): string | null {
  if (/^(https?:|#)/.test(link)) return link;
  const [file = "", hash] = link.split("#");
  const page = DOCS.find((doc) => doc.file.split("/").at(-1) === file.replace(/^(\.\.?\/)*(docs\/)?/, ""));
  return page ? `/docs/${page.slug}${hash ? `#${hash}` : ""}` : null;
}

/** Where an error or diagnostic is explained. */
export const errorHref = (code: string): string => `/docs/errors#${code}`;
