import { z } from "zod";

/** The address of a service: without credentials, ? and #. */
export const BaseUrl = z
  .string()
  .trim()
  .max(2000)
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    "Enter a URL that starts with https:// or http://",
  )
  .refine(
    (text) => !URL.canParse(text) || (new URL(text).username === "" && new URL(text).password === ""),
    "Enter the key in its own field, not in the URL",
  )
  .refine(
    (text) => !URL.canParse(text) || (new URL(text).search === "" && new URL(text).hash === ""),
    "Enter the URL without ? and #",
  );

/** A key as people paste it. */
export const Key = z
  .string()
  .max(4000)
  // A header cannot carry anything else, and an invisible character in a pasted key is hard to find.
  .refine(
    (text) => /^[\x21-\x7e]*$/.test(text.trim()),
    "This key contains invalid characters. Copy it again",
  );

/** Where a key goes; the rest of an address may hold more than that. */
export const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : "");
