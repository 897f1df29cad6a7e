import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSelection } from './choose-approver.js';

const REQUESTS = ['toolu_a', '1', 'toolu_c'].map((callId) => ({ callId }));

describe('parseSelection()', () => {
  it.each(['a', 'all', 'A', ' ALL ', 'y', 'yes'])('takes %j for all', (line) => {
    expect(parseSelection(line, REQUESTS)).toEqual({ kind: 'decided', decision: { kind: 'approve_all' } });
  });

  it.each(['n', 'none', 'No', ' n\t'])('takes %j for none', (line) => {
    expect(parseSelection(line, REQUESTS)).toEqual({ kind: 'decided', decision: { kind: 'deny_all' } });
  });

  it.each([
    ['1', ['toolu_a']],
    ['1,3', ['toolu_a', 'toolu_c']],
    [' 3 , 1 ', ['toolu_c', 'toolu_a']],
    ['2 toolu_c', ['1', 'toolu_c']],
    ['toolu_a', ['toolu_a']],
  ])('takes %j for a selection', (line, ids) => {
    expect(parseSelection(line, REQUESTS)).toEqual({
      kind: 'decided',
      decision: { kind: 'approve_selected', ids },
    });
  });

  it('takes a number for the place that was shown, not for an id that a model chose to look like it', () => {
    const requests = [{ callId: '2' }, { callId: '1' }];
    expect(parseSelection('1', requests)).toMatchObject({ decision: { ids: ['2'] } });
  });

  it.each(['', '  ', '4', '0', 'toolu_b', '1,x', 'a 1', 'all none', '-1', '1.5'])(
    'asks again after %j',
    (line) => {
      expect(parseSelection(line, REQUESTS).kind).toBe('unclear');
    },
  );

  it('never approves a call that was not asked about', () => {
    fc.assert(
      fc.property(fc.string(), (line) => {
        const selection = parseSelection(line, REQUESTS);
        if (selection.kind === 'unclear' || selection.decision.kind !== 'approve_selected') return;
        expect(REQUESTS.map(({ callId }) => callId)).toEqual(
          expect.arrayContaining([...selection.decision.ids]),
        );
      }),
    );
  });
});
