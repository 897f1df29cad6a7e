import type { Finding } from './finding.js';
import { showText } from './show-value.js';

const MAX_MESSAGE_CHARACTERS = 1_500;
export const MAX_FINDINGS = 10;

/** `Invalid arguments for write_file: /mode: expected …; missing required property "content" (a string).` */
export function composeMessage(title: string, findings: readonly Finding[]): string {
  let text = '';
  let told = 0;
  for (const finding of findings.slice(0, MAX_FINDINGS)) {
    const next = `${told === 0 ? '' : '; '}${composeFinding(finding)}`;
    if (told > 0 && title.length + text.length + next.length > MAX_MESSAGE_CHARACTERS - 40) break;
    text += next;
    told++;
  }
  const untold = findings.length - told;
  const rest = untold > 0 ? `; and ${untold} more ${untold === 1 ? 'fault' : 'faults'}` : '';
  return `${title}: ${text}${rest}.`;
}

function composeFinding({ path, message }: Finding): string {
  const where = path === '' ? '' : `${showText(path, 200)}: `;
  return showText(`${where}${message}`, 1_000);
}
