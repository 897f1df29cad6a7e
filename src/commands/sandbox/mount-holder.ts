import { openPlaceDescriptor, type PlaceDescriptor } from '../../platform/fs/place-descriptor.js';

/** What is mounted over a path. */
export type Mount =
  | {
      readonly kind: 'bind';
      readonly source: string;
      readonly target: string;
      readonly isReadOnly: boolean;
      /** A command could put something else at `source`. */
      readonly isHeld: boolean;
    }
  /** An empty directory, that cannot be written. */
  | { readonly kind: 'empty'; readonly target: string; readonly isClosed: boolean };

/**
 * Mounts what lies at canonical paths now. What takes their names while bubblewrap works, a link to the outside least
 * of all, is not mounted: it is handed descriptors, and gives up where a path leads somewhere else.
 */
export interface MountHolder {
  /** Mounts a path, over itself if not elsewhere. */
  readonly writable: (path: string, onto?: string) => Mount;
  readonly readOnly: (path: string) => Mount;
  /** Has the program inherit it, and mounts nothing. @throws PlaceChanged where nothing is, or a link leads there. */
  readonly inherit: (path: string) => void;
  /** Holds it for our own use. */
  readonly hold: (path: string) => PlaceDescriptor;
  /** Arguments for bubblewrap, which inherits what they name. @throws PlaceChanged as `inherit` does. */
  readonly arguments: (mounts: readonly Mount[]) => readonly string[];
  /** What is held, for the program to inherit, in the order of its descriptors. */
  readonly places: () => readonly number[];
  readonly close: () => void;
}

/** A path is not what it was when it was looked at. */
export class PlaceChanged extends Error {
  constructor(readonly path: string) {
    super(`"${path}" is not there any more, or has become a link`);
    this.name = 'PlaceChanged';
  }
}

/** The first descriptor that bubblewrap has for a place; those before it are the streams, the mark and the report. */
export const FIRST_PLACE = 5;

/** @param byDescriptor bubblewrap knows `--bind-fd`; without that it is told paths, and a window is left. */
export function openMountHolder(byDescriptor: boolean): MountHolder {
  const held: PlaceDescriptor[] = [];
  const inherited: number[] = [];
  const hold = (path: string): PlaceDescriptor => {
    const place = openPlaceDescriptor(path);
    if (place === undefined) throw new PlaceChanged(path);
    held.push(place);
    return place;
  };
  const bind = (source: string, target: string, isReadOnly: boolean): Mount => {
    return { kind: 'bind', source, target, isReadOnly, isHeld: true };
  };
  const argumentsOf = (mount: Mount): readonly string[] => {
    if (mount.kind === 'empty') {
      const mode = mount.isClosed ? ['--perms', '000'] : [];
      return [...mode, '--tmpfs', mount.target, '--remount-ro', mount.target];
    }
    const { source, target, isReadOnly, isHeld } = mount;
    const option = isReadOnly ? '--ro-bind' : '--bind';
    const place = isHeld ? hold(source) : undefined;
    if (!byDescriptor || place === undefined) return [option, source, target];
    inherited.push(place.fd);
    return [`${option}-fd`, `${FIRST_PLACE + inherited.length - 1}`, target];
  };
  return {
    writable: (path, onto = path) => bind(path, onto, false),
    readOnly: (path) => bind(path, path, true),
    inherit: (path) => void inherited.push(hold(path).fd),
    hold,
    arguments: (mounts) => mounts.flatMap(argumentsOf),
    places: () => inherited,
    close() {
      for (const place of held.splice(0)) place.close();
    },
  };
}

/** A mount of what no command can change. */
export function readOnlyMount(source: string, target: string): Mount {
  return { kind: 'bind', source, target, isReadOnly: true, isHeld: false };
}

/** Whether a path is a directory or lies below it; both absolute, without `.` and `..`. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}
