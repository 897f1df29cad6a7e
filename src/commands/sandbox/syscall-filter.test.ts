import { describe, expect, it } from 'vitest';
import { syscallFilter } from './syscall-filter.js';

/** Runs a filter like the kernel: returns the verdict for one call. */
function answerOf(
  bytes: Uint8Array,
  call: { arch: number; number: number; args?: readonly number[] },
): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = (offset: number): number => {
    if (offset === 0) return call.number;
    if (offset === 4) return call.arch;
    return call.args?.[(offset - 16) / 8] ?? 0;
  };
  let loaded = 0;
  for (let at = 0; at < bytes.length / 8; at++) {
    const [code, whenTrue, whenFalse] = [view.getUint16(8 * at, true), bytes[8 * at + 2], bytes[8 * at + 3]];
    const k = view.getUint32(8 * at + 4, true);
    if (code === 0x06) return k;
    if (code === 0x20) loaded = read(k);
    else {
      const holds = { 21: loaded === k, 53: loaded >= k, 69: (loaded & k) !== 0 }[code];
      at += (holds === true ? whenTrue : whenFalse) ?? 0;
    }
  }
  throw new Error('It runs past its end.');
}

const ALLOWED = 0x7fff0000;
const errno = (number: number): number => 0x00050000 | number;

describe('syscallFilter()', () => {
  it.each([
    [
      'x64',
      0xc000003e,
      { socket: 41, chmod: 90, openat: 257, read: 0, keyctl: 250, uring: 425, openat2: 437 },
    ],
    [
      'arm64',
      0xc00000b7,
      { socket: 198, chmod: 52, openat: 56, read: 63, keyctl: 219, uring: 425, openat2: 437 },
    ],
  ] as const)('decides by family, mode and number: %s', (name, arch, numbers) => {
    const filter = syscallFilter(true, name) ?? new Uint8Array();
    const answer = (call: keyof typeof numbers, ...args: number[]): number =>
      answerOf(filter, { arch, number: numbers[call], args });
    for (const family of [1, 2, 10]) expect(answer('socket', family, 1, 0)).toBe(ALLOWED);
    expect(answer('socket', 16, 3, 0)).toBe(ALLOWED);
    for (const family of [0, 3, 17, 31, 38, 40, 0xffffffff])
      expect(answer('socket', family, 1, 0)).toBe(errno(97));
    for (const protocol of [4, 9, 12, 16]) expect(answer('socket', 16, 3, protocol)).toBe(errno(97));
    for (const mode of [0o755, 0o1777]) expect(answer('chmod', 0, mode)).toBe(ALLOWED);
    for (const mode of [0o4755, 0o2755, 0o6000]) expect(answer('chmod', 0, mode)).toBe(errno(1));
    expect(answer('openat', 0, 0, 0, 0o4755)).toBe(ALLOWED);
    expect(answer('openat', 0, 0, 0o101, 0o644)).toBe(ALLOWED);
    expect(answer('openat', 0, 0, 0o101, 0o4755)).toBe(errno(1));
    expect(answer('openat', 0, 0, 0o20200002, 0o2755)).toBe(errno(1));
    expect([answer('keyctl'), answer('uring'), answer('openat2')]).toEqual([errno(1), errno(38), errno(38)]);
    expect(answer('read')).toBe(ALLOWED);
    expect(answerOf(filter, { arch: 0x40000003, number: 1 })).toBe(0x80000000);
    const lenient = syscallFilter(false, name) ?? new Uint8Array();
    expect(answerOf(lenient, { arch, number: numbers.chmod, args: [0, 0o4755] })).toBe(ALLOWED);
    expect(answerOf(lenient, { arch, number: numbers.socket, args: [40, 1] })).toBe(errno(97));
  });

  it('refuses the other set of system call numbers of this processor', () => {
    const filter = syscallFilter(true, 'x64') ?? new Uint8Array();
    expect(answerOf(filter, { arch: 0xc000003e, number: 0x40000000 + 41, args: [40] })).toBe(errno(38));
  });

  it('is undefined for an unknown processor', () => {
    expect(syscallFilter(true, 'riscv64')).toBeUndefined();
  });
});
