export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Parses `[HOST:]PORT`: `8080`, `localhost:8080`, `[::1]:8080`. Without a host: 127.0.0.1. Undefined for another text. */
export function parseListen(given: string): ListenAddress | undefined {
  const [, inBrackets, name, digits = ''] =
    /^(?:(?:\[([\da-fA-F:.]+)\]|([^:[\]\s]+)):)?(\d{1,5})$/.exec(given) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) return undefined;
  return { host: inBrackets ?? name ?? '127.0.0.1', port };
}

/**
 * Parses the name of a host as clients send it: `bücher.example` is `xn--bcher-kva.example`, an IPv6 address has brackets.
 * Undefined for another text, also for one with a scheme, port or path.
 */
export function parseHostName(given: string): string | undefined {
  const address = `http://${given}`;
  if (!URL.canParse(address)) return undefined;
  const { href, hostname } = new URL(address);
  return href === `http://${hostname}/` ? hostname : undefined;
}
