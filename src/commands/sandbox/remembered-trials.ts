import { dirname } from 'node:path';
import { parseJson } from '../../base/parse-json.js';
import { removeFile } from '../../platform/fs/make-and-remove.js';
import { makeDirectories } from '../../platform/fs/make-directories.js';
import { foreignReach } from '../../platform/fs/out-of-reach.js';
import { replaceFile } from '../../platform/fs/replace-file.js';
import { machineState } from '../../platform/process/machine-state.js';
import { readPrivateFile } from '../../platform/sqlite/private-file.js';

/**
 * Successful trials of the sandbox, kept for later processes. They are valid for one state of the machine, so at most
 * until it restarts. Failures are not kept: the next process tries again.
 *
 * A remembered trial only replaces the test. The sandbox of a command is built in full every time, and a command
 * whose sandbox cannot be built does not run.
 */
class RememberedTrials {
  readonly #file: string;
  readonly #state: string;
  #passed: readonly string[];

  constructor(file: string, state: string) {
    this.#file = file;
    this.#state = state;
    this.#passed = this.#read();
  }

  has(trial: string): boolean {
    return this.#passed.includes(trial);
  }

  add(trial: string): void {
    // Other processes may have added trials meanwhile.
    this.#passed = [...this.#read().filter((known) => known !== trial), trial].slice(-MOST_KEPT);
    try {
      if (foreignReach(this.#file) !== undefined) return;
      makeDirectories(dirname(this.#file));
      replaceFile(this.#file, JSON.stringify({ state: this.#state, passed: this.#passed }));
    } catch {
      // The next process tries again.
    }
  }

  forget(): void {
    removeFile(this.#file);
  }

  /** Empty if the file is missing, damaged, accessible to other users, or about another state of the machine. */
  #read(): readonly string[] {
    try {
      const bytes = readPrivateFile(this.#file);
      return bytes === undefined ? [] : passedIn(new TextDecoder().decode(bytes), this.#state);
    } catch {
      return [];
    }
  }
}

const MOST_KEPT = 100;

function passedIn(text: string, state: string): readonly string[] {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || !('state' in value) || !('passed' in value)) return [];
  const { passed } = value;
  if (value.state !== state || !Array.isArray(passed)) return [];
  return passed.filter((trial) => typeof trial === 'string');
}

let place: { readonly file: string; readonly version: string } | undefined;
let opened: RememberedTrials | undefined;

/** Opened with the first trial: most programs that call `rememberTrials` start no command. */
function open(): RememberedTrials | undefined {
  if (place === undefined || opened !== undefined) return opened;
  const state = machineState();
  if (state !== undefined) opened = new RememberedTrials(place.file, `toolexec ${place.version}\n${state}`);
  return opened;
}

/**
 * Keeps the trials of this process in a file, and trusts the trials of earlier processes there. If this is not called,
 * every process tries everything once.
 * @param file in a directory that no command can write
 * @param version of this program
 */
export function rememberTrials(file: string, version: string): void {
  place = { file, version };
  opened = undefined;
}

/** Whether the trial has passed in an earlier process, in the current state of the machine. */
export function hasPassed(trial: string): boolean {
  return open()?.has(trial) === true;
}

export function notePassed(trial: string): void {
  open()?.add(trial);
}

/** The next process tries everything again. Call it when a sandbox could not be built. */
export function doubtTrials(): void {
  open()?.forget();
  place = undefined;
  opened = undefined;
}
