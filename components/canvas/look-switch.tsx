"use client";

import { SegmentedControl } from "@/components/ui/segmented-control";

type Look = "list" | "drawing";

/** On phones: the nodes as a list that can be read, or the drawing. */
export function LookSwitch({ look, onChange }: { look: Look; onChange: (look: Look) => void }) {
  return (
    <div className="absolute top-2 right-2 z-10">
      <SegmentedControl<Look>
        label="List or drawing"
        value={look}
        onValueChange={onChange}
        options={[
          { value: "list", label: "List" },
          { value: "drawing", label: "Drawing" },
        ]}
      />
    </div>
  );
}
