import { join } from 'node:path';
import { parseJson } from '../base/parse-json.js';
import { readPrivateFile, updatePrivateFile } from '../platform/sqlite/private-file.js';
import type { Approval } from './described-tool.js';

/** The stored facts about a program. */
interface Remembered {
  /** Identifies the file that described itself. */
  readonly print: string;
  /** SHA-256 of the file. */
  readonly hash: string;
  /** When that was, in milliseconds since the epoch. */
  readonly at: number;
  /** Its output, which was usable. */
  readonly text: string;
}

type Entries<T> = ReadonlyMap<string, T>;

/**
 * Stores descriptions and approvals of tools between starts, so that the second start runs no program. If the
 * user's file cannot be read or written, only time is lost.
 */
export class RememberedTools {
  readonly #file: string | undefined;
  #descriptions: Map<string, Remembered>;
  #approvals: Map<string, Approval>;
  #isDirty = false;

  /** @param directory left out: nothing outlives this process. */
  constructor(directory: string | undefined) {
    this.#file = directory === undefined ? undefined : join(directory, 'external-tools.json');
    const { descriptions, approvals } = this.#file === undefined ? NOTHING : read(this.#file);
    this.#descriptions = new Map(descriptions);
    this.#approvals = new Map(approvals);
  }

  description(path: string): Remembered | undefined {
    return this.#descriptions.get(path);
  }

  remember(path: string, description: Remembered): void {
    this.#descriptions.set(path, description);
    this.#isDirty = true;
  }

  approval(path: string): Approval | undefined {
    return this.#approvals.get(path);
  }

  approve(path: string, approval: Approval): void {
    if (JSON.stringify(this.#approvals.get(path)) === JSON.stringify(approval)) return;
    this.#approvals.set(path, approval);
    this.#isDirty = true;
  }

  /** @returns why it could not be written; undefined if it was, or there was nothing to write. */
  save(): unknown {
    if (this.#file === undefined || !this.#isDirty) return undefined;
    try {
      // Entries that other programs wrote meanwhile stay.
      updatePrivateFile(this.#file, (bytes) => {
        const there = bytes === undefined ? NOTHING : parse(bytes);
        this.#descriptions = new Map([...there.descriptions, ...this.#descriptions]);
        this.#approvals = new Map([...there.approvals, ...this.#approvals]);
        return this.#bytes();
      });
      this.#isDirty = false;
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #bytes(): Uint8Array {
    const newest = [...this.#descriptions].toSorted(([, one], [, other]) => other.at - one.at);
    return Buffer.from(
      JSON.stringify({
        version: VERSION,
        descriptions: newest.slice(0, MOST_KEPT),
        approvals: [...this.#approvals],
      }),
    );
  }
}

const VERSION = 1;
const MOST_KEPT = 1_000;

interface Contents {
  readonly descriptions: Entries<Remembered>;
  readonly approvals: Entries<Approval>;
}

const NOTHING: Contents = { descriptions: new Map(), approvals: new Map() };

function read(file: string): Contents {
  try {
    const bytes = readPrivateFile(file);
    return bytes === undefined ? NOTHING : parse(bytes);
  } catch {
    return NOTHING;
  }
}

/** Only this user can write the file; invalid entries are ignored. */
function parse(bytes: Uint8Array): Contents {
  let value: unknown;
  try {
    value = parseJson(new TextDecoder().decode(bytes));
  } catch {
    return NOTHING;
  }
  const { version, descriptions, approvals } = value as Readonly<Record<string, unknown>>;
  if (version !== VERSION) return NOTHING;
  return {
    descriptions: new Map(entriesOf(descriptions, ['print', 'hash', 'text']) as [string, Remembered][]),
    approvals: new Map(entriesOf(approvals, ['description', 'effects']) as [string, Approval][]),
  };
}

function entriesOf(value: unknown, texts: readonly string[]): unknown[] {
  if (!Array.isArray(value)) return [];
  return value.filter((entry: unknown) => {
    if (!Array.isArray(entry) || typeof entry[0] !== 'string') return false;
    const fields: unknown = entry[1];
    if (typeof fields !== 'object' || fields === null) return false;
    return texts.every((name) => typeof (fields as Readonly<Record<string, unknown>>)[name] === 'string');
  });
}
