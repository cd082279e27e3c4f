import { withoutUndefined } from "@/server/domain/base/objects";

/** Another value for some fields; undefined takes one away. */
export type Change<T> = { [K in keyof T]?: T[K] | undefined };

/** The thing with the change; what is undefined is not kept as a field. */
export function changed<T extends object>(thing: T, change: Change<T>): T {
  return withoutUndefined({ ...thing, ...change });
}
