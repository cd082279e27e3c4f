import type { Metadata } from "next";
import { WorkflowList } from "@/components/workflows/workflow-list";

export const metadata: Metadata = { title: "Workflows · Troupe" };

export default function Home() {
  return <WorkflowList />;
}
