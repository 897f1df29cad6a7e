import { expect, it } from 'vitest';
import { createPalette } from '../display/terminal-text.js';
import type { JournalChange } from './journal-changes.js';
import { WatchLines } from './watch-view.js';

const DECIDED = {
  type: 'decided',
  at: 0,
  batch: 'b1',
  conversation: 'c',
  why: 'crash',
  decision: 'resume',
} as unknown as JournalChange;

function shown(isTerminal: boolean): readonly string[] {
  let written = '';
  const out = {
    isTerminal,
    rows: 24,
    columns: 40,
    write: (text: string) => {
      written += text;
    },
    flushed: async () => {},
    onResize: () => () => {},
    readerGone: new Promise<void>(() => {}),
  };
  const view = new WatchLines(out, createPalette(false, {}));
  view.note('there is no journal yet: waiting for /journal.db');
  view.show(DECIDED, 'b1234567');
  return written
    .replace(/\d\d:\d\d:\d\d/g, '00:00:00')
    .split('\n')
    .slice(0, -1);
}

it('WatchLines breaks long lines between words at a terminal, below the time; a file has them whole', () => {
  expect(shown(true)).toEqual([
    'toolexec: there is no journal yet:',
    '  waiting for /journal.db',
    '00:00:00 batch b1234567 continues with',
    '         the known results',
  ]);
  expect(shown(false)).toEqual([
    'toolexec: there is no journal yet: waiting for /journal.db',
    '00:00:00 batch b1234567 continues with the known results',
  ]);
});

it('WatchLines shows the three lights of a conversation when a call has lit another one', () => {
  let written = '';
  const out = {
    isTerminal: false,
    rows: 24,
    columns: 200,
    write: (text: string) => {
      written += text;
    },
    flushed: async () => {},
    onResize: () => () => {},
    readerGone: new Promise<void>(() => {}),
  };
  const view = new WatchLines(out, createPalette(false, {}));
  const completed = (conversation: string, effects: readonly object[], origin: readonly string[]): void => {
    const result = {
      callId: 'c1',
      toolName: 't',
      success: true,
      output: '',
      executionTimeMs: 1,
      metadata: { origin },
    };
    const call = { callId: 'c1', toolName: 't', effects, result };
    view.show(
      { type: 'completed', at: 0, batch: 'b1', conversation, call } as unknown as JournalChange,
      'b1',
    );
  };
  completed('a', [{ kind: 'read', path: 'x' }], ['workspace']);
  completed('a', [{ kind: 'fetch', url: 'https://a.example' }], ['web:a.example']);
  completed('a', [{ kind: 'fetch', url: 'https://a.example' }], ['web:b.example']);
  completed('b', [{ kind: 'read', path: 'x' }], ['workspace']);
  expect(written.split('\n').filter((line) => line.includes('●'))).toEqual([
    '         ● private data read (workspace) · ● text from outside seen (web:a.example) · ● a way out (fetch https://a.example)',
  ]);
});
