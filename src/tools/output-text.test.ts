import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fitLines } from './output-text.js';

it('shows whole lines, as many as fit beside the note about the rest', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.nat(200), (lines, maxBytes) => {
      const notice = (shown: number): string | undefined =>
        shown < lines.length ? `[${lines.length - shown} more]` : undefined;
      const { text, shown } = fitLines(lines, maxBytes, notice);
      const said = notice(shown);
      expect(text).toBe([...lines.slice(0, shown), ...(said === undefined ? [] : [said])].join('\n'));
      if (shown > 0) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      const further = notice(shown + 1);
      const wider = [...lines.slice(0, shown + 1), ...(further === undefined ? [] : [further])].join('\n');
      if (shown < lines.length) expect(Buffer.byteLength(wider)).toBeGreaterThan(maxBytes);
    }),
  );
});
