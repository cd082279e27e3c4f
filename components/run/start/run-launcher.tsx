"use client";

import { Play } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import type { LaunchProps } from "./use-launch";

const load = () => import("./launch-dialog");
const LaunchDialog = dynamic(() => load().then((m) => m.LaunchDialog), { ssr: false });

export interface RunLauncherProps extends LaunchProps {
  open?: boolean | undefined;
  onOpenChange?: ((open: boolean) => void) | undefined;
  disabled?: boolean | undefined;
}

/** The Run button, and the sheet behind it that asks for what a run needs. */
export function RunLauncher({ open, onOpenChange, disabled, ...rest }: RunLauncherProps) {
  const [isOpenHere, setOpenHere] = useState(false);
  const isOpen = open ?? isOpenHere;
  const setOpen = (next: boolean) => {
    setOpenHere(next);
    onOpenChange?.(next);
  };
  return (
    <>
      <Button
        variant="primary"
        icon={<Play aria-hidden />}
        disabled={disabled}
        onPointerEnter={() => void load()}
        onFocus={() => void load()}
        onClick={() => setOpen(true)}
      >
        Run
      </Button>
      {isOpen ? <LaunchDialog {...rest} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
