import { directoryEntries, markerSignature } from '../platform/fs-entry.js';
import { LOCK_NAME, removeIfThere, signatureOf } from './directory-locks.js';
import { admit, type Enclosure } from './enclosure.js';
import { holdTarget } from './hold.js';

/** Removes a dead process's lock, and its temporary files, from a directory, where there are any. */
export function sweepContained(
  enclosure: Enclosure,
  directory: string,
  workerId: string,
  what: 'all' | 'lock',
): void {
  const signature = signatureOf(workerId);
  const isTemporary = (name: string): boolean =>
    what === 'all' &&
    name.startsWith(`.toolexec-${signature}`) &&
    /^\.toolexec-[0-9a-f]{16}\.tmp$/.test(name);
  try {
    const { pin } = holdTarget(enclosure, admit(enclosure, directory, 'write'));
    try {
      for (const { name } of directoryEntries(pin.at)) {
        const at = `${pin.at}/${name}`;
        if (isTemporary(name)) removeIfThere(at);
        else if (name === LOCK_NAME && markerSignature(at) === signature) removeIfThere(at);
      }
    } finally {
      pin.close();
    }
  } catch {
    // Not there any more, or not ours to change any more: nobody needs it swept.
  }
}
