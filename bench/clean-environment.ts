/** For processes whose start is measured: certificates that are read at every start would count on both sides. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _certificates, NODE_OPTIONS: _options, ...env } = process.env;
  return env;
}
