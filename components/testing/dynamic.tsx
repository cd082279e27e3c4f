import { type ComponentType, lazy, Suspense } from "react";

type Loaded<P> = ComponentType<P> | { default: ComponentType<P> };

/** A stand-in for next/dynamic that loads lazily, too. */
export default function dynamic<P extends object>(
  load: () => Promise<Loaded<P>>,
  { loading: Loading }: { loading?: ComponentType; ssr?: boolean } = {},
): ComponentType<P> {
  const Later = lazy(async () => {
    const loaded = await load();
    return "default" in loaded ? loaded : { default: loaded };
  }) as unknown as ComponentType<P>;
  return function Dynamic(props: P) {
    return (
      <Suspense fallback={Loading ? <Loading /> : null}>
        <Later {...props} />
      </Suspense>
    );
  };
}
