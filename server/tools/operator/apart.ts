import { execFileSync } from "node:child_process";

const SETUP =
  '{ [ ! -d "$0" ] || mount -t tmpfs none "$0"; } && exec /usr/bin/setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"';

/**
 * The words before a program that is to see neither other processes, whose environments hold keys, nor a folder. Null where
 * the system lacks the programs or does not let users make namespaces, as in most containers.
 */
export function apartFrom(folder: string): readonly string[] | null {
  const words = [
    "/usr/bin/unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
  ];
  const [program = "", ...args] = [...words, "--mount-proc", "/bin/sh", "-c", SETUP, folder];
  try {
    execFileSync(program, [...args, "/bin/true"], { stdio: "ignore", timeout: 5_000 });
    return [program, ...args];
  } catch {
    return null;
  }
}
