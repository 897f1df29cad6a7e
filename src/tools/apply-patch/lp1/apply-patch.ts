import { posix } from 'node:path';
import { isFunction, isObject, isText, requireArgument } from '../../../base/normalize-options.js';
import { Draft, type DraftText } from '../draft.js';
import { fromByteText, type LineBuffer, toByteText } from '../line-buffer.js';
import { listLines, missing, unfitPatch } from '../patch-error.js';
import type { PatchStep } from '../patch-step.js';
import {
  type FileSection,
  type Found,
  LETTERS,
  type Operation,
  type Patch,
  parsePatch,
} from './parse-patch.js';

/**
 * The new content of each file in the patch, by its first spelling there; it returns all or throws. Pure:
 * `read` gives the current content, undefined for a missing file, and is called once per file.
 * @throws ToolError `patch_failed` with the file, the patch line, the searched text and the number of matches;
 * also for a value that does not come from `parsePatch`. `config_invalid` if `read` is no function or gives
 * anything but bytes.
 */
export function applyPatch(
  patch: Patch,
  read: (path: string) => Uint8Array | undefined,
): Map<string, Uint8Array> {
  requireArgument('applyPatch()', patch, isPatch, 'a parsed patch', 'patch_failed');
  requireArgument('applyPatch()', read, isFunction, 'a function that reads a file');
  const drafts = new Map<string, { readonly path: string; readonly draft: Draft }>();
  for (const section of patch.files) {
    const name = posix.normalize(section.path);
    const known = drafts.get(name) ?? { path: section.path, draft: new Draft(readBytes(read, section.path)) };
    drafts.set(name, known);
    finish(applySection(section, known.draft));
  }
  const written = new Map<string, Uint8Array>();
  for (const { path, draft } of drafts.values()) {
    const bytes = draft.bytes();
    if (bytes !== undefined) written.set(path, bytes);
  }
  return written;
}

function isPatch(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { files }: { readonly files?: unknown } = value;
  return Array.isArray(files) && files.every(isSection);
}

function isSection(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { path, operations }: { readonly [K in keyof FileSection]?: unknown } = value;
  return isText(path) && Array.isArray(operations) && operations.every(isObject);
}

function readBytes(read: (path: string) => Uint8Array | undefined, path: string): Uint8Array | undefined {
  const bytes = read(path);
  if (bytes !== undefined)
    requireArgument('applyPatch()', bytes, isBytes, `the bytes of "${path}" from "read"`);
  return bytes;
}

const isBytes = (value: unknown): boolean => value instanceof Uint8Array;

function finish(steps: Generator<void, void>): void {
  while (steps.next().done !== true);
}

/** Turns an LP1 patch into steps, one per file section. */
export function lp1Steps(text: string): PatchStep[] {
  return parsePatch(text).files.map((section) => ({
    line: section.line,
    path: section.path,
    effect: 'write',
    added: section.operations.flatMap(addedBy),
    run: (draft) => applySection(section, draft),
  }));
}

function addedBy(operation: Operation): readonly string[] {
  return 'lines' in operation ? operation.lines : [];
}

/**
 * Applies the operations of a section, each to the result of the previous ones. Yields after each, so that
 * the caller can let other work run.
 * @throws ToolError `patch_failed` if one does not fit
 */
function* applySection(section: FileSection, draft: Draft): Generator<void, void> {
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

/**
 * The index of the lines that an operation refers to.
 * @throws ToolError `patch_failed` for no match, for several without a number, and for a number that is too
 * large
 */
function locate(lines: LineBuffer, operation: Extract<Operation, Found>, path: string): number {
  const { find, occurrence, line, kind } = operation;
  const block = find.map(toByteText);
  // More matches are only needed for the error message.
  const found = lines.find(block, { limit: occurrence ?? 2 });
  const at = found[(occurrence ?? 1) - 1];
  if (at !== undefined && (occurrence !== undefined || found.length === 1)) return at;
  const place = { path, line };
  if (found.length === 0) {
    throw unfitPatch(place, `Match not found (0 times). ${missing(lines.texts().map(fromByteText), find)}`);
  }
  const all = lines.find(block);
  const where = `found ${all.length} time${all.length === 1 ? '' : 's'}, at ${listLines(all)}`;
  if (occurrence !== undefined) {
    throw unfitPatch(place, `Occurrence out of range: ${occurrence} was asked for, ${where}.`);
  }
  const letter = LETTERS[kind];
  throw unfitPatch(
    place,
    `Match is not unique: ${where}. Say which (${letter} 1), or give more of the lines around it.`,
  );
}
