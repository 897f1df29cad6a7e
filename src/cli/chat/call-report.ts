import { relative, resolve } from 'node:path';
import type { ToolResult } from '../../contract/call.js';
import type { Effect } from '../../contract/effect.js';
import type { ToolEvent } from '../../contract/executor.js';
import { sanitize } from '../../output/sanitize.js';
import type { TextOutput } from '../../platform/runtime/stdio.js';
import { countChanges, linesIn } from '../../terminal/count-changes.js';
import { asLeft, cutToWidth } from '../display/fit-line.js';
import type { Palette } from '../display/terminal-text.js';
import { changingCalls, type FilePart } from './changed-files.js';

export interface ReportPlace {
  readonly out: TextOutput;
  readonly palette: Palette;
  /** The journal's file. */
  readonly journal: string;
}

/** Lines of the screen kept free around an output. */
const AROUND_LINES = 10;
const LEAST_LINES = 5;
/** How many changed files have their own line. */
const MOST_FILES = 20;
/** With Ctrl, this key shows more of an output. */
export const MORE_KEY = 'o';

/** The lines below a finished call: its output, its changes, and how to undo them. */
export class CallReport {
  readonly #place: ReportPlace;
  readonly #effects = new Map<string, readonly Effect[]>();
  /** The last output that did not fit: its lines, and the number shown so far. */
  #rest: { readonly lines: readonly string[]; shown: number } | undefined;

  constructor(place: ReportPlace) {
    this.#place = place;
  }

  planned({ callId, plan }: ToolEvent & { readonly type: 'planned' }): void {
    this.#effects.set(callId, plan.effects);
  }

  /** @returns the lines to write below the call */
  async completed(conversation: string, callId: string, result: ToolResult): Promise<string> {
    const effects = this.#effects.get(callId) ?? [];
    this.#effects.delete(callId);
    const isCommand = effects.some(({ kind }) => kind === 'run');
    const lines = [
      ...todoLines(result, this.#place.palette),
      ...(isCommand ? this.#output(result) : []),
      ...(effects.some(mayChange) ? await this.#changes(conversation, callId) : []),
    ];
    return lines.map((line) => `${line}\n`).join('');
  }

  /** The next lines of the last output that did not fit. */
  more(): string | undefined {
    const rest = this.#rest;
    if (rest === undefined) return undefined;
    const room = this.#room;
    const lines = rest.lines.slice(rest.shown, rest.shown + room);
    rest.shown += lines.length;
    const left = rest.lines.length - rest.shown;
    if (left <= 0) this.#rest = undefined;
    return [...lines.map(this.#draw), ...this.#leftLine(left)].map((line) => `${line}\n`).join('');
  }

  #output({ output, success }: ToolResult): readonly string[] {
    const lines = output.replace(/\n+$/, '').split('\n').map(asLeft);
    if (lines.every((line) => line === '')) return [];
    const room = this.#room;
    this.#rest = undefined;
    if (lines.length <= room) return lines.map(this.#draw);
    const left = lines.length - room;
    // A failure is explained by the output before it.
    this.#rest = { lines, shown: success ? room : 0 };
    if (success) return [...lines.slice(0, room).map(this.#draw), ...this.#leftLine(left)];
    return [this.#dim(`  … ${left} lines before: Ctrl-O shows all`), ...lines.slice(-room).map(this.#draw)];
  }

  #leftLine(left: number): readonly string[] {
    if (left <= 0) return [];
    return [this.#dim(`  … ${left === 1 ? '1 line' : `${left} lines`} more: Ctrl-O`)];
  }

  async #changes(conversation: string, callId: string): Promise<readonly string[]> {
    const [call] = await changingCalls(this.#place.journal, conversation, callId);
    if (call === undefined) return [];
    const { palette } = this.#place;
    const shown = call.parts.slice(0, MOST_FILES).map((part) => `  ${describePart(part, palette)}`);
    const left = call.parts.length - shown.length;
    const isPlain = /^[A-Za-z0-9_-]+$/.test(callId);
    return [
      ...shown,
      ...(left > 0 ? [`  … ${left} more files: /diff`] : []),
      this.#dim(`  take it back: /undo${isPlain ? ` ${callId}` : ''}`),
    ];
  }

  readonly #draw = (line: string): string => this.#dim(cutToWidth(`  │ ${line}`, this.#columns));

  #dim(line: string): string {
    return this.#place.palette.dim(line);
  }

  get #columns(): number {
    return Math.max(this.#place.out.columns, 40) - 1;
  }

  get #room(): number {
    return Math.max(LEAST_LINES, this.#place.out.rows - AROUND_LINES);
  }
}

function mayChange({ kind }: Effect): boolean {
  return kind !== 'read' && kind !== 'fetch';
}

/** Relative to the current directory. */
export function shownPath(path: string): string {
  return sanitize(relative(resolve('.'), resolve(path)), 'inline');
}

/** `src/a.ts (+3 −1)` */
export function describePart(part: FilePart, palette: Palette): string {
  const path = shownPath(part.path);
  if (part.kind === 'unshown') return `${path}: ${part.why}`;
  const { added, removed } =
    part.kind === 'file'
      ? { added: linesIn(part.text), removed: 0 }
      : part.after === undefined
        ? { added: 0, removed: linesIn(part.before) }
        : countChanges(part.before, part.after);
  const what = part.kind === 'file' ? 'new ' : part.after === undefined ? 'removed ' : '';
  return `${what}${path} (${palette.green(`+${added}`)} ${palette.red(`−${removed}`)})`;
}

/** The tool's glyphs are two columns wide on some terminals. */
const TODO_SIGNS: readonly (readonly [glyph: string, sign: string])[] = [
  ['✅', '☑'],
  ['⏳', '▸'],
];

/** The list of steps, which is the tool's answer. */
function todoLines({ toolName, output, success }: ToolResult, palette: Palette): readonly string[] {
  if (toolName !== 'todo_write' || !success) return [];
  return output.split('\n').map((line) => {
    const text = TODO_SIGNS.reduce(
      (all, [glyph, sign]) => all.replace(glyph, sign),
      sanitize(line, 'inline'),
    );
    if (text.startsWith('☑')) return palette.dim(`  ${text}`);
    return text.startsWith('▸') ? palette.bold(`  ${text}`) : `  ${text}`;
  });
}
