import { openPlaceDescriptor, type PlaceDescriptor } from '../../platform/fs/place-descriptor.js';

/** A mount over a path. */
export type Mount =
  | {
      readonly kind: 'bind';
      readonly source: string;
      readonly target: string;
      readonly isReadOnly: boolean;
      /** A command could replace the entry at `source`. */
      readonly isHeld: boolean;
    }
  /** An empty, read-only directory. */
  | { readonly kind: 'empty'; readonly target: string; readonly isClosed: boolean };

/**
 * Mounts the current entries at canonical paths. An entry that takes their name meanwhile, especially a link
 * to the outside, is not mounted: bubblewrap gets descriptors, and fails if a path leads elsewhere.
 */
export interface MountHolder {
  /** Mounts a path, over itself by default. */
  readonly writable: (path: string, onto?: string) => Mount;
  readonly readOnly: (path: string) => Mount;
  /**
   * Makes the program inherit it without a mount. @throws PlaceChanged if there is none, or a link is on the
   * way.
   */
  readonly inherit: (path: string) => void;
  /** Holds it open for our own use. */
  readonly hold: (path: string) => PlaceDescriptor;
  /**
   * Arguments for bubblewrap, which inherits the named descriptors. @throws PlaceChanged as `inherit` does.
   */
  readonly arguments: (mounts: readonly Mount[]) => readonly string[];
  /** The descriptors for the program to inherit, in order. */
  readonly places: () => readonly number[];
  readonly close: () => void;
}

/** An entry has changed since it was examined. */
export class PlaceChanged extends Error {
  constructor(readonly path: string) {
    super(`"${path}" no longer exists, or has become a link`);
    this.name = 'PlaceChanged';
  }
}

/** Bubblewrap's first descriptor for a place; earlier ones are the streams, the mark and the report. */
export const FIRST_PLACE = 5;

/**
 * @param byDescriptor bubblewrap supports `--bind-fd`; otherwise it gets paths, which leaves a race window.
 */
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

/** A mount that no command can change. */
export function readOnlyMount(source: string, target: string): Mount {
  return { kind: 'bind', source, target, isReadOnly: true, isHeld: false };
}

/** Whether a path is a directory or lies below it; both absolute, without `.` and `..`. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}
