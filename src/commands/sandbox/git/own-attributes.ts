import { dirname } from 'node:path';
import { entryStat } from '../../../platform/fs/fs-entry.js';
import { makeEmptyDirectory, makeEmptyFile } from '../../../platform/fs/make-and-remove.js';
import { openPlaceDescriptor } from '../../../platform/fs/place-descriptor.js';
import { type Repository, readSmallFile } from './find-repositories.js';

/** What a repository's own file of attributes has to say besides, because others would come first. */
export interface OwnAttributes {
  /** Its path: `info/attributes` comes before all other attributes. */
  readonly path: string;
  /** What it holds. */
  readonly text: string;
  /** The paths that are put in the way of a filter, from the top of the working tree. */
  readonly paths: readonly string[];
}

interface TrackedIn {
  readonly repository: Repository;
  readonly files: readonly { readonly path: string }[];
}

/**
 * The repositories whose `.gitattributes` name a filter for what is hidden, as git-crypt and LFS have it: it would be given
 * the placeholder, and git would record what it makes of that. Undefined: one of them cannot be told otherwise.
 */
export function ownAttributes(tracked: readonly TrackedIn[]): readonly OwnAttributes[] | undefined {
  const found = new Map<string, OwnAttributes>();
  for (const { repository, files } of tracked) {
    if (!namesFilter(repository, files)) continue;
    const path = `${repository.common}/info/attributes`;
    const paths = files.map((file) => file.path);
    const before = found.get(path);
    const text = before?.text ?? textOf(repository.common);
    if (text === undefined) return undefined;
    found.set(path, { path, text, paths: [...(before?.paths ?? []), ...paths] });
  }
  return [...found.values()];
}

function namesFilter({ top, common }: Repository, files: TrackedIn['files']): boolean {
  if (files.length === 0) return false;
  const directories = new Set<string>(['.']);
  for (const { path } of files) {
    for (let at = dirname(path); !directories.has(at); at = dirname(at)) directories.add(at);
  }
  const places = [...directories].map((directory) => `${top}/${directory}/.gitattributes`);
  return [`${common}/info/attributes`, ...places].some((place) => FILTER.test(readSmallFile(place)));
}

const FILTER = /filter|working-tree-encoding|ident/;

/** What the file holds, which is made where it is missing: a mount needs a place. Undefined where it is no plain file. */
function textOf(common: string): string | undefined {
  const directory = openPlaceDescriptor(common);
  if (directory === undefined) return undefined;
  makeEmptyDirectory(`${directory.at}/info`);
  directory.close();
  const info = openPlaceDescriptor(`${common}/info`);
  if (info === undefined) return undefined;
  try {
    const path = `${info.at}/attributes`;
    makeEmptyFile(path);
    return entryStat(path)?.isFile() === true ? readSmallFile(path) : undefined;
  } finally {
    info.close();
  }
}
