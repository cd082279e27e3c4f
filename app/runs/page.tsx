import type { Metadata } from "next";
import { Page } from "@/components/page/page";
import { RunHistory } from "@/components/run/history/run-history";

export const metadata: Metadata = { title: "Runs" };

export default function RunsPage() {
  return (
    <Page title="Runs" description="All workflow runs. Open one to see it on the canvas.">
      <RunHistory />
    </Page>
  );
}
