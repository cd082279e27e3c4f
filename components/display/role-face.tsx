import clsx from "clsx";
import { roleIcons } from "./role-icons";

/** A role's icon or initials on its color. Decorative: the name is next to it. */
export function RoleFace({
  name,
  icon,
  color,
  size = 32,
  className,
}: {
  name: string;
  icon?: string | undefined;
  color?: string | undefined;
  size?: number;
  className?: string;
}) {
  const own = roleColor(name, color);
  return (
    <span
      aria-hidden="true"
      style={{
        width: size,
        height: size,
        fontSize: size * 0.38,
        background: `color-mix(in oklch, ${own} 20%, var(--raised))`,
        color: `color-mix(in oklch, ${own} 55%, var(--ink))`,
      }}
      className={clsx("inline-flex shrink-0 items-center justify-center rounded-lg font-semibold", className)}
    >
      {icon !== undefined && Object.hasOwn(roleIcons, icon) ? (
        <Picture icon={icon} size={size * 0.53} />
      ) : (
        initials(name)
      )}
    </span>
  );
}

/** The face of the role with this name; unknown roles get initials. */
export function FaceOfRole({
  roles,
  name,
  size,
}: {
  roles: readonly { name: string; icon?: string | undefined; color?: string | undefined }[];
  name: string;
  size: number;
}) {
  const role = roles.find((known) => known.name === name);
  return <RoleFace name={name} icon={role?.icon} color={role?.color} size={size} />;
}

/** The color of a role: its own, or one derived from its name. */
export const roleColor = (name: string, color: string | undefined): string =>
  color && /^#[0-9a-f]{6}$/i.test(color) ? color : `oklch(0.62 0.1 ${hueOf(name)})`;

function Picture({ icon, size }: { icon: string; size: number }) {
  const Icon = roleIcons[icon];
  return Icon ? <Icon size={size} strokeWidth={1.75} /> : null;
}

function initials(name: string): string {
  const nameParts = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const [first = "?", second] = nameParts;
  return (second ? first.slice(0, 1) + second.slice(0, 1) : first.slice(0, 2)).toUpperCase();
}

/** Spread by the golden angle, so that similar names get distinct colors. */
function hueOf(name: string): number {
  let hash = 7;
  for (const char of name) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 9973;
  return Math.round((hash * 137.508) % 360);
}
