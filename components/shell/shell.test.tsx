import { useQuery } from "@tanstack/react-query";
import { act, render, screen, waitFor } from "@testing-library/react";
import { type ReactNode, Suspense, use, useEffect } from "react";
import { renderToString } from "react-dom/server";
import { expect, test } from "vitest";
import { openPage } from "@/components/testing/page";
import { TroupeApi, useTrpc } from "@/components/trpc";
import { Shell } from "./shell";

test("answers that come before the rail is hydrated do not clash with what the server sent", async () => {
  openPage(null, "/workflows/wf_1");
  const container = document.createElement("div");
  document.body.append(container);
  let wakeUp = () => {};
  const awake = new Promise<void>((resolve) => {
    wakeUp = resolve;
  });
  const page = (shell: ReactNode) => (
    <TroupeApi>
      <Answers onThere={wakeUp} />
      <Suspense>{shell}</Suspense>
    </TroupeApi>
  );
  const shell = <Shell hasEngine={false}>The page</Shell>;
  container.innerHTML = renderToString(page(shell));
  const clashes: unknown[] = [];
  const home = screen.getByRole("link", { name: "Troupe, home" });
  await act(async () => {
    render(page(<Once of={awake}>{shell}</Once>), {
      container,
      hydrate: true,
      onRecoverableError: (error) => clashes.push(error),
    });
  });
  await waitFor(() => expect(screen.getByRole("link", { name: /answers are simulated/ })).toBeTruthy());
  expect(clashes).toEqual([]);
  expect(screen.getByRole("link", { name: "Troupe, home" })).toBe(home);
});

/** Says so when what the rail asks for is there. */
function Answers({ onThere }: { onThere: () => void }) {
  const trpc = useTrpc();
  const count = useQuery(trpc.questions.count.queryOptions()).isSuccess;
  const providers = useQuery(trpc.providers.list.queryOptions()).isSuccess;
  useEffect(() => {
    if (count && providers) onThere();
  }, [count, providers, onThere]);
  return null;
}

function Once({ of, children }: { of: Promise<void>; children: ReactNode }) {
  use(of);
  return children;
}
