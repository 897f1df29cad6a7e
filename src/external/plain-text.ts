/**
 * Makes untrusted text safe for people and models: no control, formatting and direction characters; line ends
 * stay.
 */
export function plainText(text: string): string {
  return text.replace(HIDDEN, '');
}

const HIDDEN = /[\p{Cc}\p{Cf}](?<![\n\t])/gu;
