import { basename, dirname, sep } from 'node:path';

/** `${env:NAME}` or `${env:NAME:-otherwise}` in the command, arguments, address, variables and headers of a server. */
const REFERENCE = /\$\{env:([A-Za-z_]\w*)(?::-([^{}]*))?\}/g;

/**
 * The text with the values of the variables that it refers to.
 * @param onValue receives each value
 * @throws Error for a variable that is not set and has no other value
 */
export function expandReferences(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  onValue: (value: string) => void,
): string {
  return text.replace(REFERENCE, (_, name: string, otherwise: string | undefined) => {
    const value = environment[name] ?? otherwise;
    if (value === undefined) throw new Error(`the variable ${name} is not set.`);
    onValue(value);
    return value;
  });
}

/** The name, if the text is one variable and nothing else. */
export function referredVariable(text: string): string | undefined {
  return /^\$\{env:([A-Za-z_]\w*)\}$/.exec(text)?.[1];
}

/** The place of another client's file, for the references that it may contain. */
export interface ClientPlace {
  readonly file: string;
  readonly home: string;
}

/** A text of another client's configuration in our notation. */
interface Translated {
  readonly text: string;
  /** Values that the other client asks its person for, and the variables that take their place. */
  readonly asked: readonly (readonly [input: string, variable: string])[];
}

/**
 * Translates references of Claude Code (`${NAME}`, `${NAME:-otherwise}`), Cursor and VS Code (`${env:NAME}`,
 * `${workspaceFolder}`, `${input:ID}`) and Gemini CLI (`$NAME`). Undefined: one of them has no counterpart.
 * @param inputVariable the variable for a value that the person is asked for; default: made from its id
 */
export function translateReferences(
  given: string,
  { file, home }: ClientPlace,
  inputVariable?: string,
): Translated | undefined {
  const folder = workspaceOf(file);
  const places: Readonly<Record<string, string>> = {
    workspaceFolder: folder,
    workspaceFolderBasename: basename(folder),
    CLAUDE_PROJECT_DIR: folder,
    userHome: home,
    pathSeparator: sep,
    '/': sep,
  };
  const asked: [string, string][] = [];
  let isWhole = true;
  const text = given.replace(/\$\{([^{}]*)\}|\$([A-Za-z_]\w*)/g, (all, inside?: string, bare?: string) => {
    // Only Gemini CLI knows variables without braces.
    if (inside === undefined) return isOfGemini(file) ? `\${env:${bare}}` : all;
    const place = Object.hasOwn(places, inside) ? places[inside] : undefined;
    if (place !== undefined) return place;
    const [, input] = /^input:(.+)$/.exec(inside) ?? [];
    if (input !== undefined) {
      const variable =
        inputVariable ??
        input
          .toUpperCase()
          .replace(/\W+/g, '_')
          .replace(/^(?=\d)/, '_');
      asked.push([input, variable]);
      return `\${env:${variable}}`;
    }
    const [, name, otherwise = ''] = /^(?:env:)?([A-Za-z_]\w*)(:-.*)?$/.exec(inside) ?? [];
    if (name === undefined) isWhole = false;
    return `\${env:${name}${otherwise}}`;
  });
  return isWhole ? { text, asked } : undefined;
}

function isOfGemini(file: string): boolean {
  return basename(dirname(file)) === '.gemini';
}

/** The files of a project lie in it, or in a folder such as `.vscode`. */
function workspaceOf(file: string): string {
  const folder = dirname(file);
  return ['.cursor', '.vscode', '.gemini'].includes(basename(folder)) ? dirname(folder) : folder;
}
