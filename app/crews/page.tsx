import type { Metadata } from "next";
import { Suspense } from "react";
import { CrewsPage } from "@/components/library/crews/crews-page";

export const metadata: Metadata = { title: "Crews" };

export default function Crews() {
  return (
    <Suspense>
      <CrewsPage />
    </Suspense>
  );
}
