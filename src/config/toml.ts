import * as smolToml from 'smol-toml';

/** What reads and writes TOML. */
export function toml(): typeof smolToml {
  return smolToml;
}
