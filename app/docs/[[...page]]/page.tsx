import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { DocsPage } from "@/components/docs/docs-page";
import { readDoc } from "@/server/docs";
import { DOCS } from "@/server/domain/text/doc-links";

interface Props {
  params: Promise<{ page?: string[] }>;
}

const slugOf = async ({ params }: Props) => (await params).page?.join("/") ?? DOCS[0].slug;

export async function generateMetadata(props: Props): Promise<Metadata> {
  const slug = await slugOf(props);
  return { title: DOCS.find((doc) => doc.slug === slug)?.title ?? "Docs" };
}

export default async function Docs(props: Props) {
  const slug = await slugOf(props);
  const text = readDoc(slug);
  if (text === null) notFound();
  return <DocsPage slug={slug} text={text} />;
}
