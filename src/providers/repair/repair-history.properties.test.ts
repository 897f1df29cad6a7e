import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import type { HistoryFormat } from '../registry.js';
import { CHECKERS, callsOf, type Turn, textsOf, turns, WRITERS, writeGemini } from './fixtures/turns.js';
import { unknownResult } from './match-results.js';
import { repairHistory } from './repair-history.js';

const FORMATS: readonly HistoryFormat[] = ['anthropic', 'openai', 'openai-responses', 'gemini', 'native'];
const WITHOUT_IDS = (turn: Turn): readonly object[] => writeGemini(turn, false);
const CASES = [
  ...FORMATS.map((format) => ({ what: format, format, write: WRITERS[format] })),
  { what: 'gemini without ids', format: 'gemini' as const, write: WITHOUT_IDS },
];

/** One way to break a list: an element is lost, duplicated or moved, or everything before or after it is cut off. */
const damage = fc.record({
  kind: fc.constantFrom('drop', 'double', 'move', 'end', 'begin'),
  from: fc.nat(40),
  to: fc.nat(40),
});
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function harm(list: readonly unknown[], { kind, from, to }: Damage): readonly unknown[] {
  if (list.length === 0) return list;
  const at = from % list.length;
  const rest = list.toSpliced(at, 1);
  if (kind === 'drop') return rest;
  if (kind === 'double') return list.toSpliced(to % (list.length + 1), 0, structuredClone(list[at]));
  if (kind === 'move') return rest.toSpliced(to % (rest.length + 1), 0, list[at]);
  return kind === 'end' ? list.slice(0, at) : list.slice(Math.min(at, 3));
}

/** The same inside a message that has parts. */
function harmParts(list: readonly unknown[], { kind, from, to }: Damage): readonly unknown[] {
  return list.map((message, at) => {
    if (at !== to % list.length || typeof message !== 'object' || message === null) return message;
    for (const key of ['content', 'parts', 'tool_calls'] as const) {
      const parts: unknown = Object.getOwnPropertyDescriptor(message, key)?.value;
      if (!Array.isArray(parts) || parts.length < 2) continue;
      return {
        ...message,
        [key]: harm(parts, { kind: kind === 'end' || kind === 'begin' ? 'move' : kind, from, to: at }),
      };
    }
    return message;
  });
}

describe.each(CASES)('repairHistory() of $what', ({ format, write }) => {
  it('gives a sound history back as the same value, alone, in a body and as text', () => {
    fc.assert(
      fc.property(turns, (said) => {
        const sound = said.flatMap(write);
        expect(CHECKERS[format](sound)).toBeUndefined();
        const repaired = repairHistory(sound, { format });
        expect(repaired.changes).toEqual([]);
        expect(repaired.history).toBe(sound);
        const key = format === 'gemini' ? 'contents' : format === 'openai-responses' ? 'input' : 'messages';
        const body = { model: 'm', [key]: sound };
        expect(repairHistory(body).history).toBe(body);
        const text = `${JSON.stringify(body, null, '\t')}  \n`;
        expect(repairHistory(text).history).toBe(text);
      }),
    );
  });

  it('makes a sound one of whatever is left of one, loses no call and no text, and does it once', () => {
    fc.assert(
      fc.property(
        turns,
        fc.array(damage, { minLength: 1, maxLength: 4 }),
        fc.array(damage, { maxLength: 2 }),
        (said, damages, inside) => {
          const whole = said.flatMap(write);
          const broken = inside.reduce(harmParts, damages.reduce<readonly unknown[]>(harm, whole));
          const before = JSON.stringify(broken);
          // A history that begins in the middle is not repaired here.
          const begins =
            format === 'anthropic' || format === 'gemini'
              ? [{ role: 'user', content: '', parts: [{ text: 'x' }] }]
              : [];
          const { history, changes } = repairHistory([...begins, ...broken], { format });
          expect(JSON.stringify(broken)).toBe(before);
          expect(CHECKERS[format](history)).toBeUndefined();
          expect(textsOf(history)).toEqual(expect.arrayContaining([...textsOf(broken)]));
          expect(callsOf(format, history)).toEqual(expect.arrayContaining(callsOf(format, broken)));
          expect(changes.length === 0).toBe(
            JSON.stringify(history) === JSON.stringify([...begins, ...broken]),
          );
          const again = repairHistory(history, { format });
          expect(again.history).toBe(history);
          expect(again.changes).toEqual([]);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('replaces its own unknown outcomes by results that are found later, once, and changes nothing else', () => {
    const find = (callId: string, toolName: string): ToolResult => ({
      callId,
      toolName,
      success: false,
      output: '',
      error: { code: 'execution_failed', message: `found ${callId}` },
      truncated: false,
      executionTimeMs: 0,
      metadata: {},
    });
    fc.assert(
      fc.property(turns, fc.array(damage, { minLength: 1, maxLength: 3 }), (said, damages) => {
        const broken = damages.reduce<readonly unknown[]>(harm, said.flatMap(write));
        const unknown = repairHistory(broken, { format });
        // It does not matter whether it is found immediately or later.
        const later = repairHistory(unknown.history, { format, find });
        expect(later.history).toEqual(repairHistory(broken, { format, find }).history);
        expect(new Set(later.changes.map(({ kind }) => kind)).size).toBeLessThan(2);
        expect(later.changes.length).toBe(
          unknown.changes.filter(({ kind, result }) => kind === 'missing_result' && result === 'unknown')
            .length,
        );
        const again = repairHistory(later.history, { format, find });
        expect(again.history).toBe(later.history);
        // Without further facts, nothing changes.
        expect(repairHistory(unknown.history, { format, find: unknownResult }).changes).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('gives every call its own result, wherever that was', () => {
    fc.assert(
      fc.property(turns, fc.array(damage, { minLength: 1, maxLength: 3 }), (said, damages) => {
        const moved = damages.map((one): Damage => (one.kind === 'double' ? one : { ...one, kind: 'move' }));
        const broken = moved.reduce<readonly unknown[]>(harm, said.flatMap(write));
        const { history } = repairHistory(broken, { format });
        for (const turn of said) {
          if (turn.by !== 'calls' || write === WITHOUT_IDS) continue;
          for (const { output } of turn.calls) expect(JSON.stringify(history)).toContain(`"${output}"`);
        }
      }),
      { numRuns: 200 },
    );
  });
});
