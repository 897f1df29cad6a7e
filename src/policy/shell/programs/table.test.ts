import { describe, expect, it } from 'vitest';
import { FILE_PROGRAMS } from './files.js';
import { MACHINE_PROGRAMS } from './machine.js';
import { NETWORK_PROGRAMS } from './network.js';
import { SHELL_PROGRAMS } from './shells.js';
import { findProgram } from './table.js';
import { TEXT_PROGRAMS } from './text.js';
import { WRAPPERS } from './wrappers.js';

describe('the table of programs', () => {
  const tables = [FILE_PROGRAMS, MACHINE_PROGRAMS, NETWORK_PROGRAMS, SHELL_PROGRAMS, TEXT_PROGRAMS, WRAPPERS];
  const names = tables.flatMap((table) => Object.keys(table).flatMap((key) => key.split(' ')));

  it('has every program once', () => {
    expect(names.length).toBeGreaterThan(250);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    for (const name of names) expect(findProgram(name), name).toBeDefined();
  });

  it('knows what is called by a version or a kind', () => {
    expect(findProgram('python3.12')).toBe(findProgram('python'));
    expect(findProgram('mkfs.ext4')).toBe(findProgram('mkfs'));
    expect(findProgram('nonesuch')).toBeUndefined();
  });
});
