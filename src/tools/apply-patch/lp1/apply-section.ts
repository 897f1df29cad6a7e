import { toByteText } from '../byte-text.js';
import type { Draft, DraftText } from '../draft.js';
import type { LineBuffer } from '../line-buffer.js';
import { unfitPatch } from '../patch-error.js';
import { locate } from './locate.js';
import { type FileSection, LETTERS, type Operation } from './patch.js';

/**
 * Takes one section's operations, each on what the ones before it left. Yields after each, so that who drains it may
 * let others have their turn.
 * @throws ToolError `patch_failed` when one does not fit
 */
export function* applySection(section: FileSection, draft: Draft): Generator<void, void> {
  if (section.operations.length === 0) return;
  const creates = !draft.exists;
  if (creates) assertCreates(section);
  const text = draft.text();
  assertWellFormed(section, text);
  for (const operation of section.operations) {
    if (operation.kind === 'final_newline') setFinalNewline(text, operation.present);
    else change(text.lines, operation, section.path);
    if (text.lines.length === 0) text.finalNewline = false;
    // A file that the patch creates ends in a newline as soon as it has a line.
    else if (creates) text.finalNewline = true;
    yield;
  }
}

function assertWellFormed({ path, line }: FileSection, { flaw }: DraftText): void {
  if (flaw === undefined) return;
  const where = `${flaw.what} (its line ${flaw.line})`;
  throw unfitPatch({ path, line }, `${where}. Rewrite it with one kind of line end first.`);
}

function assertCreates({ path, operations }: FileSection): void {
  const other = operations.find(({ kind }) => kind !== 'append' && kind !== 'prepend');
  if (other === undefined) return;
  const letter = LETTERS[other.kind];
  throw unfitPatch(
    { path, line: other.line },
    `the file does not exist, and ${letter} needs one; T and B create it.`,
  );
}

function change(lines: LineBuffer, operation: Change, path: string): void {
  const added = operation.kind === 'erase' ? [] : operation.lines.map(toByteText);
  if (operation.kind === 'append') {
    lines.splice(lines.length, 0, added);
  } else if (operation.kind === 'prepend') {
    lines.splice(0, 0, added);
  } else {
    const at = locate(lines, operation, path);
    const { length } = operation.find;
    if (operation.kind === 'insert_after') lines.splice(at + length, 0, added);
    else lines.splice(at, operation.kind === 'insert_before' ? 0 : length, added);
  }
}

type Change = Exclude<Operation, { kind: 'final_newline' }>;

function setFinalNewline(text: DraftText, present: boolean): void {
  const { lines, finalNewline } = text;
  if (present && lines.length === 0) lines.splice(0, 0, ['']);
  else if (!present && finalNewline && lines.length === 1 && lines.at(0) === '') lines.splice(0, 1, []);
  text.finalNewline = present;
}
