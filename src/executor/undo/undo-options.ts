import {
  isBoolean,
  isFilledText,
  normalizeOptions,
  type OptionRules,
  option,
} from '../../base/normalize-options.js';
import type { UndoOptions } from '../../contract/executor.js';

/** @throws ToolError `config_invalid`, which names the option and what it takes: a mistaken `dryRun` must not undo. */
export function checkUndoOptions(options: UndoOptions): void {
  normalizeOptions('options', options, RULES);
}

const RULES: OptionRules<{ [K in keyof UndoOptions]-?: UndoOptions[K] | undefined }> = {
  conversation: option(undefined, isFilledText, 'a text that is not empty'),
  turn: option(undefined, isFilledText, 'a text that is not empty'),
  dryRun: option(undefined, isBoolean, 'true or false'),
};
