import type { Effect } from '../../contract/effect.js';
import type { CommandMark, CommandPart } from '../../contract/picture.js';
import { describeEffect } from '../../effects/traits.js';
import { fromCallStart } from '../../policy/shell/from-call-start.js';

/**
 * Splits a command line into simple commands with the same analysis that the policy uses. The effects of the
 * whole line are in `touches`; each simple command has its own.
 */
export async function commandPart({ command: text, shell, cwd }: Effect<'run'>): Promise<CommandPart> {
  const { analyzeOnce } = await import('../../policy/shell/analyze-once.js');
  const { verdict, reasons, commands, effects, found = [] } = analyzeOnce(text, shell);
  const marks: CommandMark[] = [];
  let from = 0;
  const simple = commands.map((words, index) => {
    const own = found[index] ?? { effects: [], reasons: [], isUntold: true };
    const place = placeOf(words, text, from);
    if (place !== undefined) from = place.start;
    const touches = own.effects.map((effect) => fromCallStart(effect, cwd));
    for (const reason of [...own.reasons, ...lossesIn(touches)])
      marks.push({ ...(place ?? whole(text)), reason });
    return { words: [...words], touches, ...(own.isUntold ? { isUntold: true as const } : {}) };
  });
  // Reasons that no simple command explains are marked on the whole line.
  if (verdict !== 'allow') {
    const said = new Set(marks.map(({ reason }) => reason));
    for (const reason of reasons) if (!said.has(reason)) marks.push({ ...whole(text), reason });
  }
  const touches = effects.map((effect) => fromCallStart(effect, cwd));
  return {
    kind: 'command',
    text,
    shell,
    ...(cwd === undefined ? {} : { cwd }),
    marks,
    touches,
    commands: simple,
  };
}

function lossesIn(effects: readonly Effect[]): readonly string[] {
  return effects.filter(({ kind }) => kind === 'delete').map(describeEffect);
}

/** Finds the first and the last word of a simple command in the line, if they appear there unchanged. */
function placeOf(
  words: readonly string[],
  text: string,
  from: number,
): { readonly start: number; readonly end: number } | undefined {
  const [first] = words;
  const last = words.at(-1);
  if (first === undefined || last === undefined || first === '') return undefined;
  const start = text.indexOf(first, from);
  if (start === -1) return undefined;
  let end = start;
  for (const word of words) {
    const at = text.indexOf(word, end);
    if (at === -1) return { start, end: Math.max(end, start + first.length) };
    end = at + word.length;
  }
  return { start, end };
}

function whole(text: string): { readonly start: number; readonly end: number } {
  return { start: 0, end: text.length };
}
