import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { whyNoTransactions } from './kept-apart.js';
import { ToolWorkshop } from './tool-workshop.js';

const WHY_NOT = await whyNoTransactions();

const shop = new ToolWorkshop();

describe.skipIf(WHY_NOT !== '')(`an external tool in the sandbox${WHY_NOT}`, () => {
  it('writes 5,000 files, and an undo removes all of them', async () => {
    shop.add('many', `mkdir many; seq 5000 | split -l 1 -a 4 - many/f; echo '"done"'`);
    await using opened = await shop.open();
    const [result] = await opened.executor.run([{ id: 'c1', name: 'many', args: {} }]);
    expect(result?.metadata.changes).toMatchObject({ more: 4801 });
    expect(shop.outside('ls many | wc -l').trim()).toBe('5000');
    await opened.executor.undo('c1');
    expect(existsSync(join(shop.root, 'many'))).toBe(false);
  });
});
