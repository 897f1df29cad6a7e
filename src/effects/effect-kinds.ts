import type { Effect, EffectFields, EffectKind, Risk } from '../contract/effect.js';
import type { ToolAnnotations } from '../contract/tool.js';

/** A use of the call's context. */
export type Capability = 'read' | 'write' | 'delete' | 'run' | 'watch shell' | 'end shell';

/** One field of an effect kind, as a tool may give it. */
export interface EffectField {
  readonly accepts: (value: unknown) => boolean;
  /** Completes the sentence `effect 0 (run) needs shell, …`. */
  readonly expected: string;
  readonly isOptional?: true;
}

/** Everything that toolexec knows about one kind of effect. */
export interface EffectRow<K extends EffectKind> {
  /** In the order of the frozen effect. */
  readonly fields: { readonly [F in keyof Required<EffectFields[K]>]: EffectField };
  readonly risk: (effect: Effect<K>) => Risk;
  /** Whether it changes anything outside the call (D021). */
  readonly sideEffect: 'always' | 'never' | ((effect: Effect<K>) => boolean);
  /**
   * The effects that must not run at the same time. `everything`: any effect. `places`: an effect on an
   * overlapping path, if one of the two has a side effect. A function: another effect of the same kind.
   */
  readonly conflicts: 'everything' | 'places' | ((a: Effect<K>, b: Effect<K>) => boolean);
  /**
   * The uses of the context that the effect allows on the thing it names. `everything`: all uses, anywhere
   * inside the roots.
   */
  readonly grants: (effect: Effect<K>) => readonly Capability[] | 'everything';
  /** The worst case of this kind, in the terms of MCP's annotations. */
  readonly hints: { readonly destroys: boolean; readonly reachesOut: boolean };
  /** For people: in summaries, plans and policy reasons. */
  readonly words: (effect: Effect<K>) => string;
  /** A rule that names only the kind is tested against these examples. */
  readonly example: Effect<K>;
}

const TEXT: EffectField = { accepts: (value) => typeof value === 'string', expected: 'a text' };
const OPTIONAL_TEXT: EffectField = { ...TEXT, isOptional: true };

function oneOf(...choices: readonly string[]): EffectField {
  return {
    accepts: (value) => choices.some((choice) => choice === value),
    expected: `one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`,
  };
}

const NOTHING: readonly Capability[] = [];
const READ: readonly Capability[] = ['read'];
const READ_WRITE: readonly Capability[] = ['read', 'write'];
const READ_DELETE: readonly Capability[] = ['read', 'delete'];
const RUN: readonly Capability[] = ['run'];
const WATCH: readonly Capability[] = ['watch shell'];
const WATCH_END: readonly Capability[] = ['watch shell', 'end shell'];

const always = (): boolean => true;
const never = (): boolean => false;

/** The table of effect kinds. Everything that depends on a kind is read from its row. */
export const EFFECT_KINDS: { readonly [K in EffectKind]: EffectRow<K> } = {
  read: {
    fields: { path: TEXT },
    risk: () => 'low',
    sideEffect: 'never',
    conflicts: 'places',
    grants: () => READ,
    hints: { destroys: false, reachesOut: false },
    words: ({ path }) => `read ${path}`,
    example: { kind: 'read', path: '.' },
  },
  write: {
    fields: { path: TEXT },
    risk: () => 'medium',
    sideEffect: 'always',
    conflicts: 'places',
    // A tool that may change a file may also read it.
    grants: () => READ_WRITE,
    // A write may replace existing content.
    hints: { destroys: true, reachesOut: false },
    words: ({ path }) => `write ${path}`,
    example: { kind: 'write', path: '.' },
  },
  delete: {
    fields: { path: TEXT },
    risk: () => 'high',
    sideEffect: 'always',
    conflicts: 'places',
    grants: () => READ_DELETE,
    hints: { destroys: true, reachesOut: false },
    words: ({ path }) => `delete ${path}`,
    example: { kind: 'delete', path: '.' },
  },
  run: {
    fields: { command: TEXT, shell: oneOf('sh', 'bash'), cwd: OPTIONAL_TEXT },
    risk: () => 'high',
    sideEffect: 'always',
    conflicts: 'everything',
    grants: () => RUN,
    hints: { destroys: true, reachesOut: true },
    words: ({ command, cwd }) => (cwd === undefined ? `run ${command}` : `run ${command} in ${cwd}`),
    example: { kind: 'run', command: 'true', shell: 'sh' },
  },
  process: {
    fields: { id: TEXT, access: { ...oneOf('read'), isOptional: true } },
    risk: ({ access }) => (access === 'read' ? 'low' : 'medium'),
    sideEffect: ({ access }) => access !== 'read',
    // Two reads conflict too: each returns the output since the previous one.
    conflicts: (a, b) => a.id === b.id,
    grants: ({ access }) => (access === 'read' ? WATCH : WATCH_END),
    hints: { destroys: true, reachesOut: false },
    words: ({ id, access }) =>
      access === 'read' ? `read the output of background shell ${id}` : `use background shell ${id}`,
    example: { kind: 'process', id: 'shell_example' },
  },
  call: {
    fields: { server: TEXT, tool: TEXT, access: oneOf('read', 'write', 'destroy'), resource: OPTIONAL_TEXT },
    risk: ({ access }) => (access === 'read' ? 'low' : access === 'write' ? 'medium' : 'high'),
    sideEffect: ({ access }) => access !== 'read',
    conflicts: (a, b) => {
      if (a.server !== b.server || (a.access === 'read' && b.access === 'read')) return false;
      return a.resource === undefined || b.resource === undefined || a.resource === b.resource;
    },
    grants: () => NOTHING,
    hints: { destroys: true, reachesOut: true },
    words: ({ server, tool, access, resource }) =>
      `${access} ${resource === undefined ? '' : `${resource} `}on ${server} by ${tool}`,
    example: { kind: 'call', server: 'example', tool: 'example', access: 'write' },
  },
  fetch: {
    fields: { url: TEXT },
    risk: () => 'medium',
    sideEffect: 'always',
    conflicts: never,
    grants: () => NOTHING,
    hints: { destroys: false, reachesOut: true },
    words: ({ url }) => `fetch ${url}`,
    example: { kind: 'fetch', url: 'https://example.com/' },
  },
  ask: {
    fields: {},
    risk: () => 'low',
    sideEffect: 'never',
    // One person, one question at a time.
    conflicts: always,
    grants: () => NOTHING,
    hints: { destroys: false, reachesOut: false },
    words: () => 'ask the person',
    example: { kind: 'ask' },
  },
  unknown: {
    fields: {},
    risk: () => 'high',
    sideEffect: 'always',
    conflicts: 'everything',
    grants: () => 'everything',
    hints: { destroys: true, reachesOut: true },
    words: () => 'unknown effects inside the roots',
    example: { kind: 'unknown' },
  },
};

/** In the order of the table. */
export const KIND_NAMES: readonly EffectKind[] = Object.freeze(
  Object.keys(EFFECT_KINDS).filter((name): name is EffectKind => isEffectKind(name)),
);

export function isEffectKind(value: unknown): value is EffectKind {
  return typeof value === 'string' && Object.hasOwn(EFFECT_KINDS, value);
}

export function rowOf<K extends EffectKind>(effect: Effect<K>): EffectRow<K> {
  return EFFECT_KINDS[effect.kind];
}

/** The kinds with this field: a rule about the field can match them. */
export function kindsWith(field: string): readonly EffectKind[] {
  return KIND_NAMES.filter((kind) => Object.hasOwn(EFFECT_KINDS[kind].fields, field));
}

/** MCP's annotations for a tool that touches only these kinds. */
export function annotationsOf(touches: readonly EffectKind[], idempotent: boolean): ToolAnnotations {
  const rows = touches.map((kind) => EFFECT_KINDS[kind]);
  const readOnlyHint = rows.every(({ sideEffect }) => sideEffect === 'never');
  return Object.freeze({
    readOnlyHint,
    destructiveHint: rows.some(({ hints }) => hints.destroys),
    // Reading twice changes no more than reading once.
    idempotentHint: idempotent || readOnlyHint,
    openWorldHint: rows.some(({ hints }) => hints.reachesOut),
  });
}
