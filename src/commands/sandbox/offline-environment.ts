/**
 * Switches of programs that try again and again where there is no network: they try once, so that they fail at once and
 * the kernel counts what they were refused. None of them says "offline": a program that does not try leaves no trace.
 */
export const OFFLINE_ENVIRONMENT: Readonly<Record<string, string>> = {
  NPM_CONFIG_FETCH_RETRIES: '0',
  // What is in the cache is taken as it is.
  NPM_CONFIG_PREFER_OFFLINE: 'true',
  NPM_CONFIG_AUDIT: 'false',
  NPM_CONFIG_FUND: 'false',
  YARN_HTTP_RETRY: '0',
  PIP_RETRIES: '0',
  UV_HTTP_RETRIES: '0',
  POETRY_REQUESTS_MAX_RETRIES: '0',
  CARGO_NET_RETRY: '0',
  RUSTUP_MAX_RETRIES: '0',
  BUNDLE_RETRY: '0',
};
