import { type OptionsIn, SETTINGS, type Setting, type SettingSection } from '../contract/settings.js';
import type { Configuration } from './configuration.js';
import type { Tighten } from './tighten.js';
import { BOOLEAN, choice, SECONDS, type ValueKind, wholeNumber } from './value-kind.js';

/** A key of `toolexec.toml`. */
export interface ConfigKey {
  readonly kind: ValueKind;
  /** In the file's notation; undefined: no value. */
  readonly fallback: boolean | number | string | readonly string[] | undefined;
  readonly option: PathIn<Configuration>;
  /** For the documentation. */
  readonly meaning: string;
  /** The changes that an untrusted project file may make. */
  readonly tighten: Tighten;
  /** The lists of all layers are joined (D120). Otherwise the strongest layer's value counts. */
  readonly isAdditive?: true;
}

/** The names of an option and of those around it, with dots: `executor.limits.maxToolArgsBytes`. */
type PathIn<Options> = Options extends readonly unknown[] | boolean | number | string | undefined
  ? never
  : {
      [Name in keyof Options & string]: Name | `${Name}.${PathIn<NonNullable<Options[Name]>>}`;
    }[keyof Options & string];

/**
 * The key of an option in `SETTINGS`, which has its kind of value and its default. A key states its own kind if the
 * file is stricter, as for the entries of a list, and its own default if the command has another one.
 */
export function setting<Section extends SettingSection>(
  section: Section,
  name: keyof OptionsIn<Section> & string,
  own: Pick<ConfigKey, 'meaning' | 'tighten' | 'isAdditive'> & Partial<Pick<ConfigKey, 'kind' | 'fallback'>>,
): ConfigKey {
  const rows: Readonly<Record<string, Setting>> = SETTINGS[section];
  const row = rows[name] as Setting;
  // The section is a path into `Configuration`, and the name is one of its options.
  const option = `${section}.${name}` as ConfigKey['option'];
  return { kind: own.kind ?? kindOf(row), fallback: fallbackOf(row), option, ...own };
}

function kindOf(row: Setting): ValueKind {
  switch (row.takes) {
    case 'whole':
      return wholeNumber(row.least, row.unit ?? row.counts ?? '');
    case 'time':
      return SECONDS;
    case 'truth':
      return BOOLEAN;
    case 'choice':
      return choice(...row.of);
    case 'texts':
      throw new Error('A list in a file needs a kind for its entries.');
  }
}

function fallbackOf(row: Setting): ConfigKey['fallback'] {
  return row.takes === 'time' ? row.fallback / 1000 : row.fallback;
}
