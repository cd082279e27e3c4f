import { isText } from "@/server/domain/base/guards";
import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";

/** A text; empty where a value is none. */
export const textOf = (value: unknown): string => (isText(value) ? value : "");

/** The objects of a list, or those that an object holds by key. */
export const rawsOf = (value: unknown): Raw[] =>
  (Array.isArray(value) ? value : isRaw(value) ? Object.values(value) : []).filter(isRaw);
