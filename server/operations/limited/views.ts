import { Rejection } from "@/server/domain/errors/rejection";

/** Refuses what a token limited to some workflows can't do. Throws not_allowed. */
export function refuse(): never {
  throw new Rejection(
    "not_allowed",
    "This API token is limited to some workflows. It can change and run these, but can't create workflows or change anything else.",
  );
}

/** A service of which only these members work. All others throw, including members added later. */
export const only = <S extends object>(_of: S, shown: NoInfer<Partial<S>>): S =>
  // The cast: other members are functions that throw.
  new Proxy(shown, {
    get: (target, name) =>
      Object.hasOwn(target, name) || typeof name === "symbol" ? Reflect.get(target, name) : refuse,
  }) as S;

type Method = (...args: unknown[]) => unknown;
type First<M> = M extends (first: infer A, ...rest: never[]) => unknown ? A : never;

/** Unchanged methods and properties. */
export const whole = <S extends object, K extends keyof S>(of: S, ...names: K[]): Pick<S, K> =>
  Object.fromEntries(
    names.map((name) => {
      const value = of[name];
      return [name, typeof value === "function" ? (value.bind(of) as unknown) : value];
    }),
  ) as Pick<S, K>;

/** Methods whose first argument must pass a check, which throws. */
export const checked = <S extends object, K extends keyof S>(
  check: (first: First<S[K]>) => void,
  of: S,
  ...names: K[]
): Pick<S, K> =>
  Object.fromEntries(
    names.map((name) => [
      name,
      (...args: [First<S[K]>, ...unknown[]]) => {
        check(args[0]);
        return Reflect.apply(of[name] as Method, of, args);
      },
    ]),
  ) as Pick<S, K>;

/** The visible rows of a list. `more` reads the page after a row, until there are enough. */
export function seenOf<T>(
  more: (before: T | undefined) => T[],
  isSeen: (one: T) => boolean,
  limit: number,
): T[] {
  const found: T[] = [];
  for (let page = more(undefined); page.length > 0; page = more(page.at(-1))) {
    found.push(...page.filter(isSeen));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}
