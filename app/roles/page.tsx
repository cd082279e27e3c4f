import type { Metadata } from "next";
import { Suspense } from "react";
import { RolesPage } from "@/components/library/roles/roles-page";

export const metadata: Metadata = { title: "Roles" };

export default function Roles() {
  return (
    <Suspense>
      <RolesPage />
    </Suspense>
  );
}
