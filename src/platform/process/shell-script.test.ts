import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { openPlaceDescriptor, type PlaceDescriptor } from '../fs/place-descriptor.js';
import { shellScript } from './shell-script.js';

const folder = mkdtempSync(join(tmpdir(), 'shell-script-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const held: PlaceDescriptor[] = [];
afterEach(() => {
  for (const place of held.splice(0)) place.close();
});

function hold(path: string): number {
  const place = openPlaceDescriptor(path);
  if (place === undefined) throw new Error(`Nothing is at ${path}.`);
  held.push(place);
  return place.fd;
}

const start = { name: 'x', cwd: folder, env: {} };

function tell(script: string | undefined): string {
  return execFileSync('sh', ['-s'], { cwd: folder, input: script ?? '', encoding: 'utf8' });
}

describe.skipIf(process.platform !== 'linux')('shellScript (skipped where nothing can be held)', () => {
  it('passes words on unchanged, and the mark', () => {
    const args = ['-c', 'printf "[%s]" "$@" "$TOOLEXEC_CALL"', 'sh', "it's", '$HOME `id`', '\n', ''];
    expect(tell(shellScript({ ...start, file: '/bin/sh', args, mark: "o'x" }))).toBe(
      "[it's][$HOME `id`][\n][][o'x]",
    );
  });

  it('hands on the places that we hold, from the fifth descriptor, whatever has their names now', () => {
    const paths = ['a', 'b', 'c', 'd', 'e'].map((name) => join(folder, name));
    mkdirSync(paths[0] ?? '');
    for (const path of paths.slice(1)) writeFileSync(path, path);
    const places = paths.map(hold);
    rmSync(paths[4] ?? '');
    writeFileSync(paths[4] ?? '', 'another');
    const args = ['-c', 'readlink /proc/self/fd/5; cat <&6; cat <&9'];
    const said = tell(shellScript({ ...start, file: '/bin/sh', args, places }));
    expect(said).toBe(`${paths[0]}\n${paths[1]}${paths[4]}`);
  });

  it('says nothing where a shell cannot do it', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const place = hold(file);
    const program = { ...start, file: '/bin/true', args: [] };
    expect(shellScript({ ...program, places: [place, place, place, place, place] })).toBeDefined();
    expect(shellScript({ ...program, places: [place, place, place, place, place, place] })).toBeUndefined();
    expect(shellScript({ ...program, places: [hold(pipe)] })).toBeUndefined();
    expect(shellScript({ ...program, args: ['a\0b'] })).toBeUndefined();
    expect(shellScript({ ...program, args: ['x'.repeat(40_000)] })).toBeUndefined();
  });
});
