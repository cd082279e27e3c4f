"use client";

import Link from "next/link";
import { type ComponentProps, useState } from "react";

/** A link to one of our pages that is fetched ahead once the pointer or the focus comes near: not with every page. */
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
