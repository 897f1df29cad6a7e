/**
 * Settings for programs that retry without a network: they try once, so they fail immediately and the kernel counts the
 * refusal. None of them means "offline", because a program that does not try leaves no evidence.
 */
export const OFFLINE_ENVIRONMENT: Readonly<Record<string, string>> = {
  NPM_CONFIG_FETCH_RETRIES: '0',
  // Cached content is used without a check.
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
