import { render, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { usePageTitle, useTitleCount } from "./page-title";

function Page({ title, count = 0 }: { title: string | null; count?: number }) {
  usePageTitle(title);
  useTitleCount(count);
  return null;
}

test("a page keeps its title when the framework sets another, and releases it on unmount", async () => {
  document.title = "Run · Troupe";
  const { rerender, unmount } = render(<Page title="Running: Digest" />);
  expect(document.title).toBe("Running: Digest · Troupe");
  document.title = "Run · Troupe";
  await waitFor(() => expect(document.title).toBe("Running: Digest · Troupe"));
  rerender(<Page title="Running: Digest" count={2} />);
  expect(document.title).toBe("(2) Running: Digest · Troupe");
  rerender(<Page title="Completed: Digest" count={2} />);
  await waitFor(() => expect(document.title).toBe("(2) Completed: Digest · Troupe"));
  rerender(<Page title="Completed: Digest" />);
  await waitFor(() => expect(document.title).toBe("Completed: Digest · Troupe"));
  unmount();
  document.title = "Runs · Troupe";
  await new Promise((resolve) => setTimeout(resolve));
  expect(document.title).toBe("Runs · Troupe");
});
