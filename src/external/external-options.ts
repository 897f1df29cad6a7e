import {
  isBoolean,
  isFilledText,
  isFunction,
  isObject,
  isTextList,
  isWhole,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import type { Logger } from '../contract/context.js';
import type { ExternalToolsReport } from '../contract/external.js';

/** Of `discoverTools`. */
export interface DiscoverOptions {
  /**
   * Directories whose tools are believed what they declare of their effects; true: all of them. Default: none, and every
   * call has unknown effects.
   */
  readonly trusted?: true | readonly string[];
  /** The directories are watched, and looked at again when something changes. Default false. */
  readonly watch?: boolean;
  /** Told after a refresh that has changed something. What it throws is logged. */
  readonly onChange?: (report: ExternalToolsReport) => void;
  /** Programs that are asked for their schema at a time; default 8. */
  readonly concurrency?: number;
  /** Of one result; a tool that writes more is ended. Default 16777216. */
  readonly maxOutputBytes?: number;
  /** While programs are asked for their schema; at calls the executor's own holds. */
  readonly environment?: { readonly denylist?: readonly string[]; readonly pass?: readonly string[] };
  /**
   * Where descriptions and approvals are remembered. Default: `toolexec/external` in `$XDG_STATE_HOME`; false: nowhere, so
   * every start runs every program, and nothing is known of what was approved.
   */
  readonly stateDirectory?: string | false;
  /** Default: silent. */
  readonly logger?: Pick<Logger, 'warn'>;
}

type Normalized = { readonly [K in keyof DiscoverOptions]-?: DiscoverOptions[K] | undefined };

const RULES: OptionRules<Normalized> = {
  trusted: option(undefined, (value) => value === true || isTextList(value), 'true or a list of directories'),
  watch: option(false, isBoolean, 'true or false'),
  onChange: option(undefined, isFunction, 'a function'),
  concurrency: option(8, isWhole(1), 'a whole number from 1'),
  maxOutputBytes: option(16_777_216, isWhole(1), 'a whole number of bytes from 1'),
  environment: option(undefined, isObject, 'an object'),
  stateDirectory: option(
    undefined,
    (value) => value === false || isFilledText(value),
    'a directory or false',
  ),
  logger: option(undefined, isObject, 'a logger'),
};

/** @throws ToolError `config_invalid` */
export function normalizeDiscoverOptions(given: DiscoverOptions) {
  const options = normalizeOptions('discoverTools', given, RULES);
  return {
    ...options,
    watch: options.watch ?? false,
    concurrency: options.concurrency ?? 8,
    maxOutputBytes: options.maxOutputBytes ?? 16_777_216,
  };
}
