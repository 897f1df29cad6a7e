import { toByteText } from '../byte-text.js';
import { LineBuffer } from '../line-buffer.js';
import { unfitPatch } from '../patch-error.js';
import { EMPTY_FILE, readTextFile, type TextFile, writeTextFile } from '../text-file.js';
import { locate } from './locate.js';
import { type FileSection, LETTERS, type Operation } from './patch.js';

/**
 * The content after one section's operations, each applied to what the ones before it left. Yields after each, so
 * that who drains it may let others have their turn.
 * @throws ToolError `patch_failed` when one does not fit; undefined content: the file does not exist
 */
export function* applySection(
  section: FileSection,
  content: Uint8Array | undefined,
): Generator<void, Uint8Array | undefined> {
  if (section.operations.length === 0) return content;
  const file = content === undefined ? created(section) : readWhole(section, content);
  const lines = new LineBuffer(file.lines);
  let { finalNewline } = file;
  for (const operation of section.operations) {
    if (operation.kind === 'final_newline')
      finalNewline = setFinalNewline(lines, finalNewline, operation.present);
    else change(lines, operation, section.path);
    if (lines.length === 0) finalNewline = false;
    // A file that the patch creates ends in a newline as soon as it has a line.
    else if (content === undefined) finalNewline = true;
    yield;
  }
  return writeTextFile({ ...file, lines: lines.texts(), finalNewline });
}

function readWhole({ path, line }: FileSection, content: Uint8Array): TextFile {
  const { flaw, ...file } = readTextFile(content);
  if (flaw === undefined) return file;
  throw unfitPatch(
    { path, line },
    `${flaw.what} (its line ${flaw.line}). Rewrite it with one kind of line end first.`,
  );
}

function created({ path, operations }: FileSection): TextFile {
  const other = operations.find(({ kind }) => kind !== 'append' && kind !== 'prepend');
  if (other === undefined) return EMPTY_FILE;
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

function setFinalNewline(lines: LineBuffer, now: boolean, wanted: boolean): boolean {
  if (wanted && lines.length === 0) lines.splice(0, 0, ['']);
  else if (!wanted && now && lines.length === 1 && lines.at(0) === '') lines.splice(0, 1, []);
  return wanted;
}
