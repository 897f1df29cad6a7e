import { openPlaceDescriptor, type PlaceDescriptor } from '../../platform/fs/place-descriptor.js';

/**
 * Mounts what lies at canonical paths now. What takes their names while bubblewrap works, a link to the outside least
 * of all, is not mounted: it is handed descriptors, and gives up where a path leads somewhere else.
 */
export interface MountHolder {
  /** Arguments that mount a path, over itself if not elsewhere. @throws PlaceChanged where nothing is, or a link leads there. */
  readonly writable: (path: string, onto?: string) => readonly string[];
  readonly readOnly: (path: string) => readonly string[];
  /** Has the program inherit it, and mounts nothing. @throws PlaceChanged as the others do. */
  readonly inherit: (path: string) => void;
  /** Holds it for our own use. */
  readonly hold: (path: string) => PlaceDescriptor;
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
  const mount = (option: '--bind' | '--ro-bind', path: string, onto = path): readonly string[] => {
    const { fd } = hold(path);
    if (!byDescriptor) return [option, path, onto];
    inherited.push(fd);
    return [`${option}-fd`, `${FIRST_PLACE + inherited.length - 1}`, onto];
  };
  return {
    writable: (path, onto) => mount('--bind', path, onto),
    readOnly: (path) => mount('--ro-bind', path),
    inherit: (path) => void inherited.push(hold(path).fd),
    hold,
    places: () => inherited,
    close() {
      for (const place of held.splice(0)) place.close();
    },
  };
}

/** Whether a path is a directory or lies below it; both absolute, without `.` and `..`. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}
