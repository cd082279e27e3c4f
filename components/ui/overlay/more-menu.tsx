import { Ellipsis } from "lucide-react";
import { IconButton } from "../icon-button";
import { Menu, type MenuEntry } from "./menu";

/** A menu behind three dots. `label`: such as "Actions for Writer". */
export function MoreMenu({
  label,
  items,
  size,
  plain = true,
}: {
  label: string;
  items: readonly MenuEntry[];
  size?: "sm";
  plain?: boolean;
}) {
  return (
    <Menu
      align="end"
      trigger={<IconButton plain={plain} size={size} label={label} icon={<Ellipsis aria-hidden />} />}
      items={items}
    />
  );
}
