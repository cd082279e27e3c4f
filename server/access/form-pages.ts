import "server-only";
import { getDb } from "@/server/store/current";
import { frameAncestors } from "@/server/store/triggers/form-pages";

/** Tells the layout that a page is that of a form. The proxy sets it. */
export const FORM_PAGE_HEADER = "x-troupe-form";

/** The sites that may embed the page at a path. */
export const frameAncestorsOf = (path: string): string[] =>
  frameAncestors(getDb(), /^\/p\/([\w-]+)$/.exec(path)?.[1] ?? "");
