"use client";

import { ExternalLink } from "lucide-react";
import type { ReactNode } from "react";
import type { Answers } from "@/components/trpc";
import { CopyButton } from "@/components/ui/json-view";
import { Panel } from "@/components/ui/panel";

export interface SettingRow {
  name: string;
  about: string;
  fallback: string | null;
}

/** The version, the data folder, and the environment variables. */
export function AboutSection({
  info,
  settings,
}: {
  info: Answers["access"]["info"] | undefined;
  settings: readonly SettingRow[];
}) {
  return (
    <>
      <Panel title="About" flush>
        <dl className="divide-y divide-line">
          <Fact name="Version">{info ? `Troupe ${info.version}, Node ${info.node}` : "…"}</Fact>
          <Fact name="Data folder">
            {info ? (
              <span className="flex items-center gap-1">
                <code className="min-w-0 font-mono text-[13px] break-all">{info.data_dir}</code>
                <CopyButton text={info.data_dir} label="Copy path" />
              </span>
            ) : (
              "…"
            )}
          </Fact>
          <Fact name="Listening on">
            {info ? `${info.host}, port ${info.port}${info.password_set ? ", password required" : ""}` : "…"}
          </Fact>
          <Fact name="HTTP API">
            <a
              href="/api/v1/openapi.json"
              target="_blank"
              rel="noreferrer"
              className="inline-flex items-center gap-1.5 text-accent underline-offset-2 hover:underline"
            >
              OpenAPI description
              <ExternalLink aria-hidden="true" className="size-3.5" />
            </a>
          </Fact>
        </dl>
      </Panel>
      <Panel title="Environment variables" description="Read at startup. All are optional." flush>
        <section className="overflow-x-auto" tabIndex={0} aria-label="All environment variables">
          <table className="w-full min-w-130 text-left text-[13px]">
            <thead>
              <tr className="border-b border-line text-ink-2">
                <th scope="col" className="px-4 py-2 font-medium">
                  Variable
                </th>
                <th scope="col" className="px-4 py-2 font-medium">
                  Description
                </th>
                <th scope="col" className="px-4 py-2 font-medium">
                  Default
                </th>
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {settings.map(({ name, about, fallback }) => (
                <tr key={name} className="align-top">
                  <th scope="row" className="px-4 py-2 font-mono text-xs font-normal whitespace-nowrap">
                    {name}
                  </th>
                  <td className="px-4 py-2 text-ink-2">{about}</td>
                  <td className="px-4 py-2 font-mono text-xs whitespace-nowrap">{fallback ?? "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </Panel>
    </>
  );
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-baseline gap-x-4 gap-y-0.5 px-4 py-2.5">
      <dt className="w-32 text-[13px] text-ink-2">{name}</dt>
      <dd className="min-w-0 flex-1 basis-56">{children}</dd>
    </div>
  );
}
