"use client";

import { SegmentedControl } from "@/components/ui/input/segmented-control";

type ViewMode = "list" | "drawing";

/** On phones: switches between the list and the canvas. A row above the list, a corner of the canvas. */
export function ViewModeSwitch({
  viewMode,
  onChange,
}: {
  viewMode: ViewMode;
  onChange: (viewMode: ViewMode) => void;
}) {
  return (
    <div
      className={
        viewMode === "list"
          ? "sticky top-0 z-10 flex justify-end border-b border-line/60 bg-stage px-2 py-1.5"
          : "absolute top-2 right-2 z-10"
      }
    >
      <SegmentedControl<ViewMode>
        label="View"
        value={viewMode}
        onValueChange={onChange}
        options={[
          { value: "list", label: "List" },
          { value: "drawing", label: "Canvas" },
        ]}
      />
    </div>
  );
}
