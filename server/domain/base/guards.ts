/** What an unknown value is, where the compiler follows. For values that a schema reads, there is the schema. */

/** An object with keys, which a list is not. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** A list; unlike Array.isArray it says nothing about the items. */
export const isList = (value: unknown): value is unknown[] => Array.isArray(value);

export const isText = (value: unknown): value is string => typeof value === "string";

/** The items of a list; none where it is no list. */
export const listOf = (value: unknown): unknown[] => (isList(value) ? value : []);

/** What an object holds by its keys; nothing where it is no object. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});

/** The texts of a list; none where it is no list. */
export const textsOf = (value: unknown): string[] => listOf(value).filter(isText);

/** What a system call or a library calls its error, as in "ENOENT"; undefined where it has no name. */
export const errorCode = (error: unknown): string | undefined =>
  isObject(error) && isText(error.code) ? error.code : undefined;

/** What an error says. */
export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Why somebody gave up, as an error: whatever was thrown in. */
export const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error(String(reason));

/** The keys of an object that was written out with these and no others, which the type of an object cannot say. */
export const keysOf = <T extends object>(object: T) => Object.keys(object) as Extract<keyof T, string>[];

/** The same with their values. */
export const entriesOf = <T extends object>(object: T) =>
  keysOf(object).map((key) => [key, object[key]] as const);
