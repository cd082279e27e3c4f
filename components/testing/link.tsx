import type { AnchorHTMLAttributes, Ref } from "react";
import { goTo } from "./navigation";

/** A stand-in for next/link that stays within the document. */
export default function Link({
  href,
  onClick,
  prefetch: _prefetch,
  replace: _replace,
  scroll: _scroll,
  ...rest
}: AnchorHTMLAttributes<HTMLAnchorElement> & {
  href: string;
  prefetch?: boolean;
  replace?: boolean;
  scroll?: boolean;
  ref?: Ref<HTMLAnchorElement>;
}) {
  return (
    <a
      {...rest}
      href={href}
      onClick={(event) => {
        onClick?.(event);
        if (event.defaultPrevented) return;
        event.preventDefault();
        goTo(href);
      }}
    />
  );
}
