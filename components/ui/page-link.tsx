"use client";

import Link from "next/link";
import { type ComponentProps, useState } from "react";

/** A link to a page of the app. It prefetches on hover or focus, not with every page. */
export function PageLink(props: ComponentProps<typeof Link>) {
  const [isNear, setNear] = useState(false);
  return (
    <Link
      {...props}
      prefetch={isNear ? null : false}
      onMouseEnter={() => setNear(true)}
      onFocusCapture={() => setNear(true)}
    />
  );
}
