import type { EnvironmentOptions } from '../commands/sanitize-environment.js';
import type { Journal } from '../contract/journal.js';
import type { Policy } from '../contract/policy.js';
import type { CommandLimits, Confinement } from '../contract/processes.js';
import type { ToolDefinition } from '../contract/tool.js';
import type { CompiledPolicy } from '../policy/compile-policy.js';
import type { DenyOptions } from '../sandbox/enclosure.js';
import type { Territory } from '../sandbox/territory.js';
import type { EngineSettings } from './settings.js';

/** Taken over from the options as they are. */
type AsGiven =
  | 'registry'
  | 'mode'
  | 'onDecision'
  | 'reviewers'
  | 'approver'
  | 'middleware'
  | 'limits'
  | 'timeouts'
  | 'maxOutputBytes'
  | 'maxContentBytes'
  | 'cache'
  | 'clock'
  | 'logger'
  | 'createId';

/** The options of an executor, complete and found to be right; what they ask for is not loaded yet. */
export interface Settled extends Pick<EngineSettings, AsGiven> {
  /** Shown in mode `parse_only` instead of the registry's, where there are any (D114); sorted by name. */
  readonly definitions: readonly ToolDefinition[];
  readonly policy: Policy | CompiledPolicy | null;
  readonly territory: Territory;
  readonly denies: DenyOptions;
  readonly wall: Pick<Confinement, 'os' | 'network' | 'readable'>;
  readonly commandLimits: CommandLimits;
  readonly environment: EnvironmentOptions;
  /** The process's environment as it was when the executor was made. */
  readonly inherited: Readonly<Record<string, string>>;
  /** Ours is closed with the executor. */
  readonly journal:
    | { readonly kind: 'memory' }
    | { readonly kind: 'own'; readonly journal: Journal }
    | { readonly kind: 'given'; readonly journal: Journal | null };
  readonly outputs: { readonly directory?: string };
}
