import { ownWords } from './own-words.js';

/** The keys of a question that not every question has. */
export interface ApprovalKeys {
  readonly edits: boolean;
  readonly proposes: boolean;
}

/** The state of a question. Indexes begin at 0. */
interface ApprovalState {
  readonly selected: ReadonlySet<number>;
  readonly refused: ReadonlySet<number>;
  /** Lists the less common keys too. */
  readonly isFirst: boolean;
}

/** The verb of a question: calls that have run cannot be edited, so the person keeps their changes. */
export function verbOf({ edits }: ApprovalKeys): 'run' | 'keep' {
  return edits ? 'run' : 'keep';
}

/** The list of all keys. */
export function describeKeys(keys: ApprovalKeys): string {
  const verb = verbOf(keys);
  return `
  y  ${verb} all; of several, those that are selected    n  ${verb} none
  1  select or deselect the first, 2 the second…; Enter ${verb}s the selected
  d  show all of a call${keys.edits ? '  e  edit its arguments in $EDITOR' : ''}
  r  refuse all, or those that are selected, with a reason that the model reads
${keys.proposes ? '  w  always: a rule for calls like it, written after a second y\n' : ''}  ?  these keys          Esc or Ctrl-C  cancel the batch
`;
}

/** The line in front of the cursor. @param bold for the question itself */
export function promptOf(
  keys: ApprovalKeys,
  { selected, refused, isFirst }: ApprovalState,
  columns: number,
  bold: (text: string) => string,
): string {
  const state = [
    ...(selected.size === 0 ? [] : [`selected: ${numbers(selected)}; Enter ${verbOf(keys)}s them`]),
    ...(refused.size === 0 ? [] : [`refused: ${numbers(refused)}`]),
  ];
  const all = selected.size > 0 ? 'the selected' : refused.size > 0 ? 'the others' : 'all';
  const some = `${keys.edits ? ' · e edit' : ''} · r refuse with a reason${keys.proposes ? ' · w always' : ''}`;
  const more = isFirst ? ` · d details${some}` : '';
  const told = state.length === 0 ? '' : ` (${state.join(' · ')})`;
  const question = keys.edits ? 'Run these?' : 'Keep these changes?';
  const prompt = `${question} y ${all} · n none · numbers select${more} · ? keys${told}:`;
  return ownWords(prompt, columns, ' '.length).replace(question, bold);
}

/** Call numbers for display. */
export function numbers(indexes: Iterable<number>): string {
  return [...indexes]
    .sort((a, b) => a - b)
    .map((index) => index + 1)
    .join(', ');
}
