import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parseJson } from '../base/parse-json.js';
import type { JsonObject } from '../contract/json.js';
import { appendLine } from '../platform/fs/append-line.js';
import { entryNames, entryStat } from '../platform/fs/fs-entry.js';
import { unlinkQuietly } from '../platform/fs/make-and-remove.js';
import { makeDirectories } from '../platform/fs/make-directories.js';
import { replaceFile } from '../platform/fs/replace-file.js';
import { readPrivateFile } from '../platform/sqlite/private-file.js';
import type { AgentName } from './agents.js';
import { isObject } from './document.js';

/** A command that a hook has allowed and `toolexec exec` has not run yet. */
export interface IssuedCall {
  readonly id: string;
  readonly agent: AgentName;
  /** See `agentVersion`. */
  readonly version: string;
  readonly session: string;
  readonly root: string;
  readonly cwd: string;
  readonly command: string;
  /** The command line that the agent runs instead. */
  readonly line: string;
  /** `rewrite`: the answer contained the line as the new input. `line`: the model got the line to run. */
  readonly how: 'rewrite' | 'line';
  /** The agent asked a person. */
  readonly isAsked: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Whether a version of an agent runs the command of a rewritten call. */
export type Arrival = 'arrives' | 'ignored';

export interface LogEntry {
  readonly at: number;
  readonly agent: AgentName;
  readonly event: string;
  readonly tool?: string;
  readonly decision: 'allow' | 'ask' | 'deny' | 'none' | 'contained';
  readonly session?: string;
}

/** The texts of a settings file around `guard install`. */
export interface Installed {
  /** If absent: there was no file. */
  readonly before?: string;
  readonly after: string;
  /** There was no directory either. */
  readonly madeDirectory: boolean;
}

const DAY_MS = 86_400_000;
const MOST_LOG_BYTES = 2_000_000;

/** The state that hooks, `exec` and `guard status` share: small files that only this user can read. */
export class GuardState {
  readonly #directory: string;

  /** @param stateHome the state directory of toolexec */
  constructor(stateHome: string) {
    this.#directory = join(stateHome, 'guard');
  }

  /** @throws the operating system's error; then the call must not be allowed */
  issue(call: IssuedCall): void {
    const path = this.#callPath(call.id);
    makeDirectories(join(this.#directory, 'calls'));
    replaceFile(path, JSON.stringify(call));
  }

  /** @throws ReadFailure for a file that other users could have written */
  issued(id: string): IssuedCall | undefined {
    const value = this.#read(this.#callPath(id));
    return value !== undefined && value.id === id && typeof value.command === 'string'
      ? (value as unknown as IssuedCall)
      : undefined;
  }

  /** Records that `exec` has run an issued call. */
  arrived(id: string): void {
    replaceFile(`${this.#callPath(id)}.arrived`, '');
  }

  hasArrived(id: string): boolean {
    return entryStat(`${this.#callPath(id)}.arrived`) !== undefined;
  }

  /** Removes issued calls that are a day old, because no agent will still run them. */
  sweep(now: number): void {
    const folder = join(this.#directory, 'calls');
    for (const name of entryStat(folder) === undefined ? [] : entryNames(folder)) {
      const path = join(folder, name);
      if (now - (entryStat(path)?.mtimeMs ?? now) > DAY_MS) unlinkQuietly(path);
    }
  }

  arrival(agent: AgentName, version: string): Arrival | undefined {
    const known = this.#read(this.#arrivalPath(agent, version))?.arrival;
    return known === 'arrives' || known === 'ignored' ? known : undefined;
  }

  /** A version that has ignored one rewrite counts as ignoring them, even if it later applies one. */
  learn(agent: AgentName, version: string, arrival: Arrival, at: number): void {
    const known = this.arrival(agent, version);
    if (known === arrival || known === 'ignored') return;
    makeDirectories(join(this.#directory, 'versions'));
    replaceFile(this.#arrivalPath(agent, version), JSON.stringify({ agent, version, arrival, at }));
  }

  /** All versions with a recorded arrival. */
  arrivals(): readonly { readonly agent: string; readonly version: string; readonly arrival: Arrival }[] {
    const folder = join(this.#directory, 'versions');
    return (entryStat(folder) === undefined ? [] : entryNames(folder)).flatMap((name) => {
      const value = this.#read(join(folder, name));
      const { agent, version, arrival } = value ?? {};
      return typeof agent === 'string' &&
        typeof version === 'string' &&
        (arrival === 'arrives' || arrival === 'ignored')
        ? [{ agent, version, arrival }]
        : [];
    });
  }

  /** @throws the operating system's error */
  log(entry: LogEntry): void {
    appendLine(this.#logPath(), JSON.stringify(entry), MOST_LOG_BYTES);
  }

  /** The number of calls for each outcome, by agent. */
  counts(): ReadonlyMap<string, Readonly<Record<string, number>>> {
    const byAgent = new Map<string, Record<string, number>>();
    for (const path of [`${this.#logPath()}.1`, this.#logPath()]) {
      for (const line of this.#text(path).split('\n')) {
        const entry = line === '' ? undefined : asObject(line);
        const { agent, decision } = entry ?? {};
        if (typeof agent !== 'string' || typeof decision !== 'string') continue;
        const counts = byAgent.get(agent) ?? {};
        counts[decision] = (counts[decision] ?? 0) + 1;
        byAgent.set(agent, counts);
      }
    }
    return byAgent;
  }

  /**
   * A recorded fact about this machine; undefined if it is unknown, or belongs to another state of the
   * machine.
   */
  remembered(name: string, state: string): JsonObject | undefined {
    const value = this.#read(join(this.#directory, `${name}.json`));
    return value?.state === state ? value : undefined;
  }

  remember(name: string, state: string, facts: JsonObject): void {
    makeDirectories(this.#directory);
    replaceFile(join(this.#directory, `${name}.json`), JSON.stringify({ ...facts, state }));
  }

  /** Records the texts that `guard install` found in a settings file and wrote to it. */
  rememberInstall(file: string, installed: Installed): void {
    this.remember(`install-${fileName(file)}`, file, { ...installed });
  }

  rememberedInstall(file: string): Installed | undefined {
    const { before, after, madeDirectory } = this.remembered(`install-${fileName(file)}`, file) ?? {};
    if (typeof after !== 'string') return undefined;
    return {
      ...(typeof before === 'string' ? { before } : {}),
      ...{ after, madeDirectory: madeDirectory === true },
    };
  }

  #logPath(): string {
    return join(this.#directory, 'log.jsonl');
  }

  #callPath(id: string): string {
    return join(this.#directory, 'calls', fileName(id));
  }

  #arrivalPath(agent: AgentName, version: string): string {
    return join(this.#directory, 'versions', fileName(`${agent} ${version}`));
  }

  #read(path: string): JsonObject | undefined {
    const text = this.#text(path);
    return text === '' ? undefined : asObject(text);
  }

  #text(path: string): string {
    const bytes = readPrivateFile(path);
    return bytes === undefined ? '' : Buffer.from(bytes).toString('utf8');
  }
}

/** Ids come from agents. */
function fileName(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 40);
}

function asObject(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
