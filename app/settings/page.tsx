import type { Metadata } from "next";
import { SettingsPage } from "@/components/settings/settings-page";
import { settingsTable } from "@/server/settings";

export const metadata: Metadata = { title: "Settings" };

export default function Settings() {
  return <SettingsPage settings={settingsTable()} />;
}
