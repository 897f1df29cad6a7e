import { createRequire } from 'node:module';

type SmolToml = typeof import('smol-toml');

let loaded: SmolToml | undefined;

/** What reads and writes TOML, loaded when it is asked for: programs without a configuration file never need it. */
export function toml(): SmolToml {
  loaded ??= createRequire(import.meta.url)('smol-toml') as SmolToml;
  return loaded;
}
