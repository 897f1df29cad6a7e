import { COUNTING } from './count-bytes.js';
import type { Row } from './row.js';

/** One measurement. Each has its own process, so that none changes V8's heap or compiled code for another. */
export interface Measurement {
  readonly name: string;
  readonly title: string;
  readonly nodeOptions: readonly string[];
  load(): Promise<(scale: Scale) => Promise<readonly Row[]>>;
}

/** How long it may take: `quick` shows that the programs run, and no more. */
export type Scale = 'full' | 'quick';

export const CONTENTS: readonly Measurement[] = [
  {
    name: 'call',
    title: 'A validated call that does nothing, journal in memory; microseconds a call',
    nodeOptions: [],
    load: async () => (await import('./call.js')).measureCall,
  },
  {
    name: 'journal',
    title: 'A call with a side effect, journal in a file; microseconds a call',
    nodeOptions: [],
    load: async () => (await import('./journal.js')).measureJournal,
  },
  {
    name: 'fleet',
    title: 'A call with a side effect, journal in Postgres; microseconds a call',
    nodeOptions: [],
    load: async () => (await import('./fleet.js')).measureFleet,
  },
  {
    name: 'recovery',
    title: 'Opening a journal, and settling what dead processes left in it; milliseconds in all',
    nodeOptions: [],
    load: async () => (await import('./recovery.js')).measureRecovery,
  },
  {
    name: 'long-journal',
    title: 'A journal that has grown long: its size, opening, looking, verifying, pruning',
    nodeOptions: [],
    load: async () => (await import('./long-journal.js')).measureLongJournal,
  },
  {
    name: 'bytes',
    title: 'Bytes allocated a call',
    nodeOptions: COUNTING,
    load: async () => (await import('./bytes.js')).measureBytes,
  },
  {
    name: 'memory',
    title: 'Memory in use over a million calls',
    nodeOptions: ['--expose-gc'],
    load: async () => (await import('./memory.js')).measureMemory,
  },
  {
    name: 'start',
    title: "A fresh process: import 'toolexec', and the first call",
    nodeOptions: [],
    load: async () => (await import('./start.js')).measureStart,
  },
  {
    name: 'command',
    title: 'The command, from its start to its end',
    nodeOptions: [],
    load: async () => (await import('./command.js')).measureCommand,
  },
  {
    name: 'guard',
    title: 'Calls of other agents behind the guard, and try; whole processes',
    nodeOptions: [],
    load: async () => (await import('./guard.js')).measureGuard,
  },
  {
    name: 'question',
    title: 'At a terminal: the first line of run, and the question',
    nodeOptions: [],
    load: async () => (await import('./question.js')).measureQuestion,
  },
  {
    name: 'lookup',
    title: 'Look-up among 10,000 tools',
    nodeOptions: [],
    load: async () => (await import('./lookup.js')).measureLookup,
  },
  {
    name: 'wire',
    title: 'Reading and writing a megabyte of calls, as text',
    nodeOptions: [],
    load: async () => (await import('./wire.js')).measureWire,
  },
  {
    name: 'streams',
    title: 'A streamed answer, from a server on this machine to the whole message; milliseconds a megabyte',
    nodeOptions: [],
    load: async () => (await import('./streams.js')).measureStreams,
  },
  {
    name: 'loop',
    title: 'A turn of the loop, with a model that answers at once; microseconds a turn',
    nodeOptions: [],
    load: async () => (await import('./loop.js')).measureLoop,
  },
  {
    name: 'hosts',
    title: 'Our tools inside the AI SDK, a ticket, and tracing; microseconds a call',
    nodeOptions: [],
    load: async () => (await import('./hosts.js')).measureHosts,
  },
  {
    name: 'external',
    title: 'Programs as tools, beside the same programs run by hand; milliseconds',
    nodeOptions: [],
    load: async () => (await import('./external.js')).measureExternal,
  },
  {
    name: 'policy',
    title: 'policy.decide among 1,000 rules',
    nodeOptions: [],
    load: async () => (await import('./policy.js')).measurePolicy,
  },
  {
    name: 'sandbox',
    title: 'Resolving a path inside the sandbox, three deep',
    nodeOptions: [],
    load: async () => (await import('./sandbox.js')).measureSandbox,
  },
  {
    name: 'open',
    title: 'Opening a file, three deep',
    nodeOptions: [],
    load: async () => (await import('./open.js')).measureOpen,
  },
  {
    name: 'files',
    title: 'File tools, through the whole executor',
    nodeOptions: [],
    load: async () => (await import('./files.js')).measureFiles,
  },
  {
    name: 'search',
    title: 'Searching 50,000 files, 200 MB',
    nodeOptions: [],
    load: async () => (await import('./search.js')).measureSearch,
  },
  {
    name: 'analyze',
    title: 'Judging a command',
    nodeOptions: [],
    load: async () => (await import('./analyze.js')).measureAnalysis,
  },
  {
    name: 'shell',
    title: 'A command through the whole executor',
    nodeOptions: [],
    load: async () => (await import('./shell.js')).measureShell,
  },
  {
    name: 'transactions',
    title: 'A command whose changes are kept apart until its end',
    nodeOptions: [],
    load: async () => (await import('./transactions.js')).measureTransactions,
  },
  {
    name: 'mcp',
    title: 'MCP over standard input and output, beside the official SDK alone',
    nodeOptions: [],
    load: async () => (await import('./mcp.js')).measureMcp,
  },
  {
    name: 'provenance',
    title: 'Where data came from, and a page of the web',
    nodeOptions: [],
    load: async () => (await import('./provenance.js')).measureProvenance,
  },
];
