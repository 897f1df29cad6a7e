import { isPlaceholder, looksRandom } from './placeholder.js';
import type { SecretShape } from './secret-shapes.js';

/**
 * Secrets that are known by what stands before them. No pattern reads over a `[`: what stands behind a marker is not
 * taken for what the marker hides.
 */
export const SECRET_CONTEXTS: readonly SecretShape[] = [
  {
    // scheme://user:password@host; an @ may stand in the password, a slash may not.
    name: 'url-password',
    words: ['://'],
    pattern: /(?<before>:\/\/[^\s:/?#@"'`<>\\]{0,256}:)[^\s/?#"'`<>\\]{1,1024}(?=@)/g,
    isSecret: (hidden) => !isPlaceholder(hidden) && !/^[%:$]/.test(hidden),
  },
  {
    name: 'authorization-header',
    words: ['authorization'],
    pattern:
      /(?<before>authorization\\?["']?[ \t]{0,8}[:=][ \t]{0,8}\\?["']?(?:(?:bearer|basic|token|digest|apikey|negotiate|ntlm|aws4-hmac-sha256)[ \t]{1,8})?)[^\s"'`,;<>{}()$[\]\\]{6,}/gi,
    isSecret: (hidden) => isBasicCredential(hidden) || looksRandom(hidden),
  },
  {
    name: 'bearer-token',
    words: ['bearer'],
    pattern: /(?<before>(?<![A-Za-z0-9])bearer[ \t]{1,8})[A-Za-z0-9._~+/=-]{16,}/gi,
    isSecret: looksRandom,
  },
  {
    // curl -u user:password; not docker's user:group in numbers, not date's +%H:%M.
    name: 'user-password-option',
    words: ['-u', '--user', '--proxy-user', '--creds'],
    pattern:
      /(?<before>(?<![A-Za-z0-9_-])(?:-[uU](?:[ \t]{1,8}|=)|--(?:user|proxy-user|creds)(?:[ \t]{1,8}|=))["']?[A-Za-z0-9][^\s:"'`\\/]{0,127}:)[^\s"'`\\/]{1}[^\s"'`]{0,512}/g,
    isSecret: (hidden) => !isPlaceholder(hidden) && !/^(?:[0-9]{1,6}$|[$<{[])/.test(hidden),
  },
  {
    name: 'attached-user-password-option',
    words: ['curl'],
    pattern:
      /(?<before>(?<![A-Za-z0-9])curl[ \t][^\r\n|;&[]{0,200}?(?<=[ \t])-u["']?[A-Za-z0-9][^\s:"'`\\/]{0,64}:)[^\s"'`\\/$<{[][^\s"'`]{0,512}/g,
  },
  {
    name: 'mysql-password-option',
    words: ['mysql', 'mariadb'],
    pattern:
      /(?<before>(?<![A-Za-z0-9])(?:mysql|mariadb)(?:dump|admin|import|show|check|-dump|-admin)?[ \t][^\r\n|;&[]{0,200}?(?<=[ \t])-p)(?!ort|rotocol|ipe|rint|refix)["']?[^\s"'$<{[][^\s"']{2,512}["']?/g,
  },
  {
    name: 'sshpass-option',
    words: ['sshpass'],
    pattern: /(?<before>(?<![A-Za-z0-9])sshpass[ \t]{1,8}-p[ \t]{0,8})["']?[^\s"'$<{[-][^\s"']{0,512}["']?/g,
  },
  {
    name: 'container-login-option',
    words: ['docker', 'podman'],
    pattern:
      /(?<before>(?<![A-Za-z0-9])(?:docker|podman)[ \t]{1,8}login[ \t][^\r\n|;&[]{0,200}?(?<=[ \t])-p[ \t=]{1,8})["']?[^\s"'$<{[-][^\s"']{0,512}["']?/g,
  },
];

/** `user:password` in base64, as HTTP sends it. */
function isBasicCredential(text: string): boolean {
  return (
    /^[A-Za-z0-9+/]{6,}={0,2}$/.test(text) && Buffer.from(text, 'base64').toString('latin1').includes(':')
  );
}
