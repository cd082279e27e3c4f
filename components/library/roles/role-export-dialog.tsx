"use client";

import { useState } from "react";
import { countOf } from "@/components/display/format";
import { FormDialog } from "@/components/forms/form-dialog";
import { downloadText } from "@/components/page/download";
import { useTrpcClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/input/checkbox";
import { CheckboxGroup } from "@/components/ui/input/checkbox-group";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { copyText } from "@/components/ui/json-view";
import { toast } from "@/components/ui/toasts";

/** Exports some or all roles as one file. */
export function RoleExportDialog({ names, onClose }: { names: readonly string[]; onClose: () => void }) {
  const client = useTrpcClient();
  const [chosen, setChosen] = useState<readonly string[]>(names);
  const [format, setFormat] = useState<"yaml" | "json">("yaml");
  const file = () => client.roles.export.query({ names: [...chosen], format });
  return (
    <FormDialog
      title="Export roles"
      submit={`Download ${countOf(chosen.length, "role")}`}
      isIncomplete={chosen.length === 0}
      actions={
        <Button
          disabled={chosen.length === 0}
          onClick={async () => {
            await copyText((await file()).text);
            toast("Copied");
          }}
        >
          Copy
        </Button>
      }
      onSubmit={() =>
        void file().then(({ file_name, text }) => {
          downloadText(file_name, text);
          onClose();
        })
      }
      onClose={onClose}
    >
      <SegmentedControl
        label="Format"
        value={format}
        onValueChange={setFormat}
        className="self-start"
        options={[
          { value: "yaml", label: "YAML" },
          { value: "json", label: "JSON" },
        ]}
      />
      <Checkbox
        label="All roles"
        checked={chosen.length === names.length}
        indeterminate={chosen.length > 0 && chosen.length < names.length}
        onCheckedChange={(all) => setChosen(all ? names : [])}
      />
      <CheckboxGroup
        label="Roles"
        hideLabel
        options={names.map((name) => ({ value: name, label: name }))}
        value={chosen}
        onValueChange={setChosen}
      />
    </FormDialog>
  );
}
