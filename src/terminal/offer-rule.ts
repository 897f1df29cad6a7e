import type { Palette } from './draw-picture.js';
import { ownWords } from './own-words.js';
import { askKeyFor, isBack, type NoAnswer, type PromptPlace } from './prompts.js';
import { inOneLine, toVisible } from './visible-text.js';

/** A rule that would allow a call in future. */
export interface ProposedRule {
  /** Its TOML text. */
  readonly text: string;
  readonly file: string;
  /** Recorded calls that it would also have allowed, in words. */
  readonly alsoAllows: readonly string[];
  write(): Promise<void>;
}

/** Shows a rule, and writes it after a second key. */
export async function offerRule(
  rule: ProposedRule,
  place: PromptPlace & { readonly palette: Palette },
): Promise<'written' | 'not written' | NoAnswer> {
  const { screen, palette } = place;
  const question = ownWords(`Write it to ${toVisible(rule.file)}?`, screen.columns);
  screen.write(`${drawRule(rule)}${palette.bold(question)}\n`);
  const prompt = palette.bold('y writes it, n does not:');
  const answer = await askKeyFor(place, prompt, 'y or n', (key) =>
    key === 'y' ? 'write' : key === 'n' || isBack(key) ? 'leave' : undefined,
  );
  if (answer === 'leave') return 'not written';
  if (answer !== 'write') return answer;
  try {
    await rule.write();
    return 'written';
  } catch (error) {
    screen.write(
      `Nothing was written: ${toVisible(error instanceof Error ? error.message : String(error))}\n`,
    );
    return 'not written';
  }
}

function drawRule({ text, alsoAllows }: ProposedRule): string {
  const rule = `\n${toVisible(text, { lookalikes: true }).replace(/^/gm, '   ')}\n`;
  const others = alsoAllows.length;
  if (others === 0) return `${rule}It would have allowed no other call in the journal.\n`;
  const some = alsoAllows
    .slice(0, 10)
    .map((other) => `   ${toVisible(inOneLine(other), { lookalikes: true })}\n`);
  const count = others === 1 ? '1 other call' : `${others} other calls`;
  return `${rule}It would have allowed ${count} in the journal:\n${some.join('')}`;
}
