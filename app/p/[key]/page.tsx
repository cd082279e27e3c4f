import type { Metadata } from "next";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { cache } from "react";
import { handlers } from "@/app/api/handlers";
import { PublicForm } from "@/components/triggers/public-form";

export const dynamic = "force-dynamic";

interface Props {
  params: Promise<{ key: string }>;
}

const formWith = cache(async (key: string) =>
  (await handlers()).formPage(key, (await headers()).get("cookie")),
);

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const form = await formWith((await params).key);
  return {
    title: { absolute: form?.title ?? "Page not found" },
    description: form?.description ?? null,
    robots: { index: false, follow: false },
  };
}

/** The public page of a form. It needs no account and leads nowhere else. */
export default async function FormPage({ params }: Props) {
  const { key } = await params;
  const form = await formWith(key);
  if (!form) notFound();
  return <PublicForm formKey={key} initial={form} />;
}
