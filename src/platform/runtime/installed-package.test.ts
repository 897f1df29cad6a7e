import { expect, it } from 'vitest';
import { importInstalled, requireInstalled } from './installed-package.js';

it('importInstalled() loads an ES module package, and says what is not installed', async () => {
  expect(await importInstalled('@vscode/ripgrep')).toMatchObject({ rgPath: expect.any(String) });
  await expect(importInstalled('not-installed')).rejects.toThrow('not-installed');
  expect(() => requireInstalled('not-installed')).toThrow('not-installed');
});
