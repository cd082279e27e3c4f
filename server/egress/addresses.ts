import ipaddr from "ipaddr.js";

/** IPv6 addresses that anyone on the internet may have lie here; ipaddr.js calls more than these "unicast". */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");
/** A cloud's metadata service at an address that looks public. */
const AZURE_WIRE = ipaddr.IPv4.parse("168.63.129.16");

/** Where an address leads: anywhere on the internet, to this machine, to a network around it, or nowhere one should go. */
export type Reach = "public" | "loopback" | "private" | "forbidden";

/** Tells the reach of an IP address in any spelling. What cannot be read as one is forbidden. */
export function reachOf(address: string): Reach {
  const bare = address.replace(/^\[|\]$/g, "").replace(/%[^%\s]*$/, "");
  if (!ipaddr.isValid(bare)) return "forbidden";
  // IPv4 written as IPv6 is IPv4.
  const ip = ipaddr.process(bare);
  const range = ip.range();
  if (range === "loopback") return "loopback";
  if (range === "private" || range === "uniqueLocal" || range === "carrierGradeNat") return "private";
  if (range !== "unicast") return "forbidden";
  if (ip instanceof ipaddr.IPv6) return ip.match(GLOBAL_IPV6) ? "public" : "forbidden";
  return ip.toString() === AZURE_WIRE.toString() ? "forbidden" : "public";
}
