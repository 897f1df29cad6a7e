import type { Effect } from '../../contract/effect.js';
import type { CallOrigins, Origin } from '../../contract/origin.js';
import { opensWayOut } from '../../effects/traits.js';
import {
  describeOrigins as describe,
  isPrivate,
  isUntrusted,
  listOrigins as listOf,
} from '../../patterns/origin.js';
import type { ProvenancePreset } from '../rules/policy-options.js';

interface ConcernFacts {
  readonly effects: readonly Effect[];
  readonly sideEffecting: boolean;
  /** The call's commands can reach the network. */
  readonly network: boolean;
  readonly origins: CallOrigins;
  /** It writes a path that later runs by itself. */
  readonly writesLater: boolean;
}

/**
 * One sentence saying why a call should be asked about, because of the origins of its data; undefined: there is no
 * reason. Before the model has seen text from outside, the only reason is text in files with the preset `ask`.
 */
export function concernOf(facts: ConcernFacts, preset: ProvenancePreset): string | undefined {
  return shapeThatHurts(facts, preset) ?? withSideEffects(facts, preset) ?? asFilesSay(facts, preset);
}

/** Whether the preset can ask about calls of a model that has seen these origins. */
export function isConcerned(seen: readonly Origin[], preset: ProvenancePreset): boolean {
  return preset !== 'off' && seen.some((one) => isUntrusted(one) || (preset === 'ask' && isPrivate(one)));
}

/**
 * Private data was read, text from outside was seen, and the call can send data out. A rule that allows exactly this
 * destination permits the data to go there.
 */
export function allLit({ effects, network, origins }: ConcernFacts): string | undefined {
  const outside = origins.seen.filter(isUntrusted);
  const own = origins.seen.filter(isPrivate);
  if (outside.length === 0 || own.length === 0) return undefined;
  const out = effects.find((effect) => opensWayOut(effect, network));
  if (out === undefined) return undefined;
  return `private data was read (${listOf(own)}), text from outside was seen (${listOf(outside)}), and this call can send data out`;
}

function shapeThatHurts(facts: ConcernFacts, preset: ProvenancePreset): string | undefined {
  const { effects, origins } = facts;
  const outside = origins.seen.filter(isUntrusted);
  if (preset === 'off' || outside.length === 0) return undefined;
  const seen = `after text from ${listOf(outside)} was seen`;
  if (facts.writesLater) return `it would write a file that runs later by itself, ${seen}`;
  for (const effect of effects) {
    const isWrite = effect.kind === 'call' && effect.access !== 'read';
    // Looked up here instead of for each call, because the lookup searches the results for the arguments.
    const leaks = isWrite || effect.kind === 'fetch' ? carriers(origins, (one) => one === 'workspace') : [];
    if (leaks.length > 0)
      return `it would send data of the workspace (${describe(leaks, origins)}) out, ${seen}`;
    const carried = isWrite ? carriers(origins, isUntrusted) : [];
    if (carried.length > 0) return `${describe(carried, origins)}, and the call changes something outside`;
    if (isWrite && origins.isForgotten === true)
      return `the call changes something outside, and the texts in which its arguments may occur are not known any more, ${seen}`;
    if (effect.kind === 'run' && facts.network) return `the command reaches the network, ${seen}`;
  }
  return undefined;
}

function withSideEffects(facts: ConcernFacts, preset: ProvenancePreset): string | undefined {
  const outside = facts.origins.seen.filter(isUntrusted);
  if (outside.length === 0 || preset !== 'ask' || !facts.sideEffecting) return undefined;
  const carried = carriers(facts.origins, isUntrusted);
  return carried.length > 0
    ? describe(carried, facts.origins)
    : `it has side effects, after text from ${listOf(outside)} was seen`;
}

/**
 * A file may contain text that came from outside: a bill, a log, a file of another project. So files and outputs of
 * commands never count as the person's words to others.
 */
function asFilesSay({ effects, origins }: ConcernFacts, preset: ProvenancePreset): string | undefined {
  const own = origins.seen.filter(isPrivate);
  if (preset !== 'ask' || own.length === 0) return undefined;
  const isWrite = effects.some((effect) => effect.kind === 'call' && effect.access !== 'read');
  if (!isWrite && !effects.some(({ kind }) => kind === 'fetch')) return undefined;
  const carried = carriers(origins, isPrivate);
  if (carried.length > 0) return `${describe(carried, origins)}, and the call reaches outside`;
  return isWrite ? `it changes something outside, after text from ${listOf(own)} was read` : undefined;
}

/** The arguments with text of such an origin. Only origins that the model has seen can occur. */
function carriers(origins: CallOrigins, wanted: (origin: Origin) => boolean): readonly string[] {
  if (!origins.seen.some(wanted)) return [];
  return Object.entries(origins.args).flatMap(([pointer, found]) => (found.some(wanted) ? [pointer] : []));
}
