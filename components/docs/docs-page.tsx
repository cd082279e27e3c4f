"use client";

import clsx from "clsx";
import { Markdown } from "@/components/display/markdown";
import { Page } from "@/components/page/page";
import { PageLink } from "@/components/ui/page-link";
import { DOCS } from "@/server/domain/text/doc-links";

/** A page of the docs next to the list of all pages. */
export function DocsPage({ slug, text }: { slug: string; text: string }) {
  const doc = DOCS.find((one) => one.slug === slug);
  return (
    <Page title={doc?.title ?? "Docs"}>
      <div className="grid gap-x-8 gap-y-6 lg:grid-cols-[9rem_minmax(0,48rem)]">
        <nav aria-label="Docs" className="self-start lg:sticky lg:top-10">
          <ul className="flex flex-wrap gap-1 lg:flex-col">
            {DOCS.map((one) => (
              <li key={one.slug}>
                <PageLink
                  href={`/docs/${one.slug}`}
                  aria-current={one.slug === slug ? "page" : undefined}
                  className={clsx(
                    "block rounded-lg px-2.5 py-1.5 text-[13px] hover:bg-ink/5 hover:text-ink",
                    one.slug === slug ? "bg-ink/5 font-medium text-ink" : "text-ink-2",
                  )}
                >
                  {one.title}
                </PageLink>
              </li>
            ))}
          </ul>
        </nav>
        <article className="min-w-0">
          <Markdown text={withoutTitle(text)} isDoc />
        </article>
      </div>
    </Page>
  );
}

/** The page shows the title itself; comments are for those who edit the file. */
const withoutTitle = (text: string) => text.replace(/^# .*\n/, "").replace(/<!--[\s\S]*?-->\n?/g, "");
