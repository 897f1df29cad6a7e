import { describe, expect, it } from 'vitest';
import { askRecovery, type CutCall, type RecoveryAnswer } from './ask-recovery.js';

const plain = (text: string): string => text;
const palette = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain };
const CALLS: readonly CutCall[] = [
  { callId: 'a', toolName: 'bash', state: 'done', lines: ['run make'], isUnknown: false },
  { callId: 'b', toolName: 'bash', state: 'not known', lines: ['run deploy'], isUnknown: true },
  { callId: 'c', toolName: 'bash', state: 'not known', lines: ['run test'], isUnknown: true },
];

async function session(
  typed: readonly string[],
  calls = CALLS,
  { columns = 60, rows = 24 } = {},
): Promise<{ readonly answer: RecoveryAnswer; readonly shown: string }> {
  const keys = [...typed];
  let shown = '';
  const answer = await askRecovery({
    batchId: 'b1',
    conversation: 'c\u001b[2J\nWhat counts? r',
    calls,
    palette,
    signal: new AbortController().signal,
    screen: {
      columns,
      rows,
      write: (text) => {
        shown += text;
      },
      askKey: async (prompt) => {
        shown += prompt;
        return keys.shift();
      },
      askLine: async () => undefined,
      onResize: () => () => {},
    },
  });
  return { answer, shown };
}

const resume = (settled = {}) => ({ kind: 'resume', settled });

describe('askRecovery()', () => {
  it.each<[string, string[], RecoveryAnswer | ReturnType<typeof resume>]>([
    ['r resumes with what is known', ['r'], resume()],
    ['d discards after a second key', ['d', 'y'], { kind: 'discard' }],
    ['d and n discard nothing', ['d', 'n', 'r'], resume()],
    ['another key after d is asked again', ['d', 'd', 'yes\r', 'r', '\r', 'r'], resume()],
    ['a paste is no key', ['rd', 'dy', '\r'], { kind: 'later' }],
    ['Enter decides later', ['\r'], { kind: 'later' }],
    ['Escape decides later', ['\u001b'], { kind: 'later' }],
    ['the end of the terminal decides nothing', [], { kind: 'later' }],
    ['Ctrl-C leaves', ['\u0003'], { kind: 'interrupt' }],
    ['Ctrl-C leaves, also while calls are settled', ['s', '\u0003'], { kind: 'interrupt' }],
    [
      's asks about each call that is not known',
      ['s', 'y', 'n', 'r'],
      resume({ b: 'applied', c: 'not_applied' }),
    ],
    ['s leaves open what the person does not know', ['s', 'y', '\r', 'r'], resume({ b: 'applied' })],
    ['s takes back what was said', ['s', 'y', 'y', 's', '?', '\r', 'n', 'r'], resume({ c: 'not_applied' })],
  ])('%s', async (_, typed, answer) => {
    expect((await session(typed)).answer).toEqual(answer);
  });

  it("shows each call with its known state, and after the decision with the person's answer", async () => {
    const { shown } = await session(['s', 'y', 'n', '\r']);
    expect(shown).toContain('1. bash (a) done\n   run make\n');
    expect(shown).toContain('2. bash (b) not known\n   run deploy\n');
    expect(shown).toContain('2. bash (b) done, you say');
    expect(shown).toContain('3. bash (c) not done, you say');
  });

  it('shows a long batch a screen at a time, and asks when all was seen', async () => {
    const calls = Array.from({ length: 12 }, (_, at) => ({ ...CALLS[0], callId: `c${at}` }) as CutCall);
    const { answer, shown } = await session([' ', 'r', 'r'], calls, { rows: 18 });
    expect(answer).toEqual(resume());
    expect(shown.match(/— .* —/g)).toEqual([
      '— 25 lines more: any key continues, Esc decides later —',
      '— 9 lines more: any key continues, Esc decides later —',
    ]);
    expect(shown.indexOf('\nWhat counts?')).toBeGreaterThan(shown.indexOf('12. bash (c11)'));
    expect(await session(['\u001b'], calls, { rows: 18 })).toMatchObject({ answer: { kind: 'later' } });
    expect(await session(['\u0003'], calls, { rows: 18 })).toMatchObject({ answer: { kind: 'interrupt' } });
  });

  it('breaks no word in 40 columns', async () => {
    const { shown } = await session(['?', 'd', 'n', 's', 'y', 'n', 'r'], CALLS, { columns: 40, rows: 60 });
    for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(40);
    expect(shown).toContain(
      'What counts? r resume · d discard ·\ns say what took effect · Enter later\n· ? keys:',
    );
  });

  it('asks about no call where everything is known', async () => {
    expect((await session(['r'], CALLS.slice(0, 1))).shown).not.toContain('took effect');
  });

  it('gives names no way to look like a line of ours, or to drive the terminal', async () => {
    const { shown } = await session(['r']);
    expect(shown).not.toMatch(/\u001b/);
    expect(shown.split('\n').filter((line) => line.startsWith('What counts?'))).toHaveLength(1);
  });
});
