import {
  isBoolean,
  isFilledText,
  type OptionRules,
  option,
  settleOptions,
} from '../../base/settle-options.js';
import type { UndoOptions } from '../../contract/executor.js';

/** @throws ToolError `config_invalid`, which names the option and what it takes: a mistaken `dryRun` must not undo. */
export function checkUndoOptions(options: UndoOptions): void {
  settleOptions('options', options, RULES);
}

const RULES: OptionRules<{ [K in keyof UndoOptions]-?: UndoOptions[K] | undefined }> = {
  conversation: option(undefined, isFilledText, 'a text that is not empty'),
  turn: option(undefined, isFilledText, 'a text that is not empty'),
  dryRun: option(undefined, isBoolean, 'true or false'),
};
