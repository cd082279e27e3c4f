import { runProcess } from "./process";

const SETUP =
  '{ [ ! -d "$0" ] || mount -t tmpfs none "$0"; } && exec /usr/bin/setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"';

/**
 * The words before a program that is to see neither other processes, whose environments hold keys, nor a folder. Null where
 * the system lacks the programs or does not let users make namespaces, as in most containers.
 */
export async function apartFrom(folder: string): Promise<readonly string[] | null> {
  const prefix = [
    "/usr/bin/unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "/bin/sh",
    "-c",
    SETUP,
    folder,
  ];
  const probe = {
    argv: [...prefix, "/bin/true"],
    stdin: "",
    environment: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    timeout_ms: 5_000,
    max_output_bytes: 1024,
    signal: new AbortController().signal,
  };
  const works = await runProcess(probe).then(
    ({ exit_code }) => exit_code === 0,
    () => false,
  );
  return works ? prefix : null;
}
