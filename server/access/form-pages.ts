import "server-only";
import { getDb } from "@/server/store/current";
import { newFormPages } from "@/server/store/form-pages";

/** Set by the proxy: tells the layout that the page is a form page. */
export const FORM_PAGE_HEADER = "x-troupe-form";

/** The sites that may embed the page at a path. */
export const frameAncestorsOf = (path: string): string[] =>
  newFormPages(getDb()).frameAncestors(/^\/p\/([\w-]+)$/.exec(path)?.[1] ?? "");
