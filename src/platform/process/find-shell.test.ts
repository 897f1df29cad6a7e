import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findShell, isDirectory } from './find-shell.js';

it('findShell() prefers the shell of the system to one in the search path', () => {
  const folder = mkdtempSync(join(tmpdir(), 'find-shell-'));
  writeFileSync(join(folder, 'sh'), '#!/bin/true\n');
  chmodSync(join(folder, 'sh'), 0o755);
  try {
    expect(findShell('sh', `${folder}:.`)).toBe('/bin/sh');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('isDirectory() is false for files and for nothing', () => {
  expect([isDirectory('/etc'), isDirectory('/etc/passwd'), isDirectory('/nowhere')]).toEqual([
    true,
    false,
    false,
  ]);
});
