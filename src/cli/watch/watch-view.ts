import type { CallRecord } from '../../contract/journal.js';
import { describeEffect } from '../../effects/traits.js';
import { sanitize } from '../../output/sanitize.js';
import type { TextOutput } from '../../platform/runtime/stdio.js';
import { ConversationLights } from '../../provenance/lights.js';
import { areAllLit, describeLights } from '../../terminal/describe-lights.js';
import { cut, describeName } from '../display/describe-call.js';
import { cutToWidth, describeWithin, drawTail, foldLine } from '../display/fit-line.js';
import type { Palette } from '../display/terminal-text.js';
import { toSafeJson } from '../display/terminal-text.js';
import { originsOf } from '../recorded-origins.js';
import type { JournalChange } from './journal-changes.js';

/** The display of a watched journal. */
export interface WatchView {
  /** @param shortId the shortest unique prefix of a batch's id */
  show(change: JournalChange, shortId: string): void;
  note(message: string): void;
  /** Leaves the screen to a question until the returned function is called; later events are shown then. */
  hold(): () => void;
}

/** For programs: one event per line. */
export function createJsonView(out: TextOutput, complaints: TextOutput): WatchView {
  return {
    show: (change) => out.write(`${toSafeJson(toJson(change))}\n`),
    note: (message) => complaints.write(`${toSafeJson({ type: 'note', message })}\n`),
    hold: () => () => {},
  };
}

function toJson(change: JournalChange): unknown {
  switch (change.type) {
    case 'batch': {
      const { calls, record: _, ...about } = change;
      const asked = calls.map(({ callId, toolName, args, effects, disposition, state }) => {
        return { callId, toolName, args, effects, disposition, state };
      });
      return { ...about, calls: asked };
    }
    case 'started': {
      const { call, ...about } = change;
      return { ...about, ...(call.worker === undefined ? {} : { pid: call.worker.pid }) };
    }
    case 'completed': {
      const { call, ...about } = change;
      return { ...about, result: call.result };
    }
    case 'waiting': {
      const { record: _, ...about } = change;
      return about;
    }
    case 'decided':
      return change;
  }
}

const BELOW_TIME = ' '.repeat('00:00:00 '.length);

/** For people: permanent lines, each with the time of day. */
export class WatchLines implements WatchView {
  readonly #out: TextOutput;
  readonly #palette: Palette;
  /** The batch of the last line. */
  #batch: string | undefined;
  #holds = 0;
  #held: string[] = [];
  /** By conversation, since the watch began. */
  readonly #lights = new Map<string, ConversationLights>();

  constructor(out: TextOutput, palette: Palette) {
    this.#out = out;
    this.#palette = palette;
  }

  show(change: JournalChange, shortId: string): void {
    const time = timeOf(change.at);
    const head = `${time} ${this.#palette.bold(`batch ${shortId}`)}`;
    const of = ` of ${cut(sanitize(change.conversation, 'inline'), 30)}`;
    if (change.type === 'batch') {
      const count = change.record.size === 1 ? '1 call' : `${change.record.size} calls`;
      const earlier = change.earlier === true ? ', not at its end' : '';
      this.#print(`${head}${of}: ${count}${earlier}`);
      if (change.earlier === true) for (const call of change.calls) this.#print(this.#describeState(call));
    } else if (change.type === 'waiting' || change.type === 'decided') {
      const said = change.type === 'waiting' ? waitsFor(change.why, shortId) : decisionOf(change);
      this.#print(`${head} ${change.type === 'waiting' ? this.#palette.yellow(said) : said}`);
    } else {
      if (this.#batch !== change.batch) this.#print(`${head}${of}`);
      for (const line of this.#describeCall(change, time)) this.#print(line);
      if (change.type === 'completed') this.#showLights(change.conversation, change.call);
    }
    this.#batch = change.batch;
  }

  note(message: string): void {
    this.#print(`toolexec: ${sanitize(message, 'inline')}`);
  }

  hold(): () => void {
    this.#holds++;
    return () => {
      if (--this.#holds > 0) return;
      this.#out.write(this.#held.join(''));
      this.#held = [];
    };
  }

  /** The call has lit another of the three lights. */
  #showLights(conversation: string, { effects, result }: CallRecord): void {
    let known = this.#lights.get(conversation);
    if (known === undefined) {
      known = new ConversationLights();
      this.#lights.set(conversation, known);
    }
    const sandbox = result?.metadata.sandbox as { readonly network?: unknown } | undefined;
    if (!known.ran(originsOf(result), effects, sandbox?.network === true)) return;
    const shown = describeLights(known.lights);
    const { red, dim } = this.#palette;
    if (shown !== '') this.#print(`${BELOW_TIME}${areAllLit(known.lights) ? red(shown) : dim(shown)}`);
  }

  #describeState(call: CallRecord): string {
    const line = `         ${call.state === 'queued' ? '·' : '▸'} ${describeName(call)} ${summaryOf(call)}`;
    const { result } = call;
    if (result === undefined) return cutToWidth(`${line} · ${call.state}`, this.#columns);
    return `         ${describeWithin(this.#columns - 9, result, summaryOf(call), this.#palette)}`;
  }

  #describeCall(
    change: JournalChange & { readonly type: 'started' | 'completed' },
    time: string,
  ): readonly string[] {
    const { call } = change;
    const { result } = call;
    if (change.type === 'started' || result === undefined)
      return [cutToWidth(`${time} ▸ ${describeName(call)} ${summaryOf(call)}`, this.#columns)];
    const shown =
      change.repeated === true ? { ...result, metadata: { ...result.metadata, replayed: true } } : result;
    const line = `${time} ${describeWithin(this.#columns - time.length - 1, shown, summaryOf(call), this.#palette)}`;
    const tail = result.success
      ? []
      : drawTail(result.output.split('\n').slice(-50), this.#columns - 9, this.#palette);
    return [line, ...tail.map((text) => `         ${text}`)];
  }

  get #columns(): number {
    return Math.max(this.#out.columns, 40) - 1;
  }

  #print(line: string): void {
    // Only lines about a batch begin with a time.
    const hang = /^(?:\d\d:| {9})/.test(line) ? BELOW_TIME : '  ';
    const lines = this.#out.isTerminal ? foldLine(line, this.#columns, hang) : [line];
    const text = lines.map((piece) => `${piece}\n`).join('');
    if (this.#holds > 0) this.#held.push(text);
    else this.#out.write(text);
  }
}

function summaryOf({ effects }: CallRecord): string {
  return sanitize(effects.map(describeEffect).join(', '), 'inline');
}

function waitsFor(why: string, shortId: string): string {
  return why === 'approval'
    ? `waits for approval: toolexec approve ${shortId}`
    : `was left half done: toolexec journal recover --resume ${shortId}, or --discard`;
}

function decisionOf({ decision, why }: JournalChange & { readonly type: 'decided' }): string {
  if (why === 'approval') return decision === 'resume' ? 'was decided' : 'was given up';
  return decision === 'resume' ? 'continues with the known results' : 'counts as failed';
}

function timeOf(at: number): string {
  const date = new Date(at);
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}
