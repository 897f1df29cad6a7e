import { machineArchitecture } from '../../platform/runtime/environment.js';

/**
 * A kernel filter for system calls (classic BPF) in bubblewrap's format, for actions that namespaces do not
 * prevent. Undefined for a processor that is not in the table.
 * @param dropsModes files may not get the setuid and setgid bits
 */
export function syscallFilter(
  dropsModes: boolean,
  architecture: string = machineArchitecture(),
): Uint8Array | undefined {
  const table = TABLES.get(architecture);
  return table === undefined ? undefined : assemble(linesFor(table, dropsModes));
}

interface Table {
  /** `AUDIT_ARCH_…` of `linux/audit.h`. */
  readonly audit: number;
  /** Above this number, calls have other numbers; undefined if there are none. */
  readonly others?: number;
  readonly numbers: Readonly<Record<Call, number | undefined>>;
}

const TABLES: ReadonlyMap<string, Table> = new Map([
  [
    'x64',
    {
      audit: 0xc000003e,
      others: 0x40000000,
      numbers: {
        ...{ socket: 41, socketpair: 53, io_uring_setup: 425 },
        ...{ add_key: 248, request_key: 249, keyctl: 250 },
        ...{ open: 2, creat: 85, chmod: 90, fchmod: 91, mknod: 133 },
        ...{ openat: 257, mknodat: 259, fchmodat: 268, openat2: 437, fchmodat2: 452 },
      },
    },
  ],
  [
    'arm64',
    {
      audit: 0xc00000b7,
      numbers: {
        ...{ socket: 198, socketpair: 199, io_uring_setup: 425 },
        ...{ add_key: 217, request_key: 218, keyctl: 219 },
        ...{ open: undefined, creat: undefined, chmod: undefined, fchmod: 52, mknod: undefined },
        ...{ openat: 56, mknodat: 33, fchmodat: 53, openat2: 437, fchmodat2: 452 },
      },
    },
  ],
]);

type Call = keyof typeof RULES;

/** The rule for each refused call; numbers are argument indices. */
const RULES = {
  // Virtual machine hosts, Bluetooth, raw packets and dozens of other families ignore namespaces.
  socket: { rule: 'family' },
  socketpair: { rule: 'family' },
  // It opens files and sockets past this filter. Programs that use it have a fallback.
  io_uring_setup: { rule: 'missing' },
  // The keys of the session.
  add_key: { rule: 'refused' },
  request_key: { rule: 'refused' },
  keyctl: { rule: 'refused' },
  open: { rule: 'made', flags: 1, mode: 2 },
  openat: { rule: 'made', flags: 2, mode: 3 },
  // Its mode is in memory, which a filter cannot read. Programs that use it have a fallback.
  openat2: { rule: 'unseen' },
  creat: { rule: 'mode', mode: 1 },
  chmod: { rule: 'mode', mode: 1 },
  fchmod: { rule: 'mode', mode: 1 },
  fchmodat: { rule: 'mode', mode: 2 },
  fchmodat2: { rule: 'mode', mode: 2 },
  mknod: { rule: 'mode', mode: 1 },
  mknodat: { rule: 'mode', mode: 2 },
} as const satisfies Record<string, Rule>;

type Rule =
  | { readonly rule: 'family' | 'missing' | 'refused' | 'unseen' }
  | { readonly rule: 'mode'; readonly mode: number }
  | { readonly rule: 'made'; readonly flags: number; readonly mode: number };

/** UNIX, IPv4, IPv6; of netlink only the part that lists this machine's addresses. */
const FAMILIES = [1, 2, 10];
const NETLINK = 16;
const NETLINK_ROUTE = 0;

const SET_IDS = 0o6000;
/** O_CREAT and O_TMPFILE: without them the mode is ignored. */
const MAKES = 0o100 | 0o20000000;

const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];

/** One instruction with its two jump distances. */
type Line = readonly [code: number, whenTrue: number, whenFalse: number, k: number];

const load = (offset: number): Line => [0x20, 0, 0, offset];
const isEqual = (k: number, whenTrue: number, whenFalse: number): Line => [0x15, whenTrue, whenFalse, k];
const isAtLeast = (k: number, whenTrue: number, whenFalse: number): Line => [0x35, whenTrue, whenFalse, k];
const hasAny = (k: number, whenTrue: number, whenFalse: number): Line => [0x45, whenTrue, whenFalse, k];
const answer = (k: number): Line => [0x06, 0, 0, k];

const ALLOW = answer(0x7fff0000);
const KILL = answer(0x80000000);
const fail = (errno: number): Line => answer(0x00050000 | errno);

const NUMBER = load(0);
const ARCHITECTURE = load(4);
/** Its lower half, on little-endian machines. */
const argument = (index: number): Line => load(16 + 8 * index);

function linesFor({ audit, others, numbers }: Table, dropsModes: boolean): readonly Line[] {
  const calls = Object.keys(RULES) as Call[];
  return [
    ARCHITECTURE,
    // Programs for another processor use other call numbers.
    ...[isEqual(audit, 1, 0), KILL],
    NUMBER,
    ...(others === undefined ? [] : [isAtLeast(others, 0, 1), fail(ENOSYS)]),
    ...calls.flatMap((call) => {
      const number = numbers[call];
      const lines = linesOf(RULES[call], dropsModes);
      return number === undefined || lines.length === 0 ? [] : [isEqual(number, 0, lines.length), ...lines];
    }),
    ALLOW,
  ];
}

/** The lines for one call; every path through them ends with a verdict. */
function linesOf(rule: Rule, dropsModes: boolean): readonly Line[] {
  switch (rule.rule) {
    case 'refused':
      return [fail(EPERM)];
    case 'missing':
      return [fail(ENOSYS)];
    case 'family':
      return [
        argument(0),
        ...FAMILIES.map((family, index) => isEqual(family, FAMILIES.length + 3 - index, 0)),
        isEqual(NETLINK, 0, 2),
        argument(2),
        isEqual(NETLINK_ROUTE, 1, 0),
        fail(EAFNOSUPPORT),
        ALLOW,
      ];
    case 'unseen':
      return dropsModes ? [fail(ENOSYS)] : [];
    case 'mode':
      return dropsModes ? refuseMode(rule.mode) : [];
    case 'made':
      return dropsModes ? [argument(rule.flags), hasAny(MAKES, 1, 0), ALLOW, ...refuseMode(rule.mode)] : [];
  }
}

function refuseMode(mode: number): readonly Line[] {
  return [argument(mode), hasAny(SET_IDS, 0, 1), fail(EPERM), ALLOW];
}

/** `struct sock_filter`; both processors are little-endian. */
function assemble(lines: readonly Line[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8 * lines.length));
  for (const [index, [code, whenTrue, whenFalse, k]] of lines.entries()) {
    bytes.setUint16(8 * index, code, true);
    bytes.setUint8(8 * index + 2, whenTrue);
    bytes.setUint8(8 * index + 3, whenFalse);
    bytes.setUint32(8 * index + 4, k, true);
  }
  return new Uint8Array(bytes.buffer);
}
