// Takes turns, as fast as it can, at putting links to the outside in place of what a sandbox works on, and back:
// a directory, a directory further down, a file, and a link that leads inside otherwise. A directory is moved, too.
import { lstatSync, renameSync, rmSync, symlinkSync } from 'node:fs';

const [root, outside] = process.argv.slice(2);
const swaps = [
  { path: `${root}/d`, target: outside },
  { path: `${root}/f`, target: `${outside}/secret.txt` },
  { path: `${root}/deep/e`, target: '../../outside' },
  { path: `${root}/l`, target: outside },
];

/** Four renames: the real thing goes aside, the link takes its place, and the other way round. */
function swap({ path }) {
  renameSync(path, `${path}.kept`);
  renameSync(`${path}.link`, path);
  renameSync(path, `${path}.link`);
  renameSync(`${path}.kept`, path);
}

/** Something was made in the gap between two renames: what was kept goes back there, and the link is made anew. */
function mend({ path, target }) {
  if (isThere(`${path}.kept`)) {
    rmSync(path, { force: true, recursive: true });
    renameSync(`${path}.kept`, path);
  }
  rmSync(`${path}.link`, { force: true, recursive: true });
  symlinkSync(target, `${path}.link`);
}

function isThere(path) {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function move() {
  renameSync(`${root}/deep/e`, `${root}/moved`);
  renameSync(`${root}/moved`, `${root}/deep/e`);
}

function attempt(step, mending) {
  try {
    step();
  } catch {
    try {
      mending();
    } catch {
      // Written into while it was mended: the next turn finds it as it is.
    }
  }
}

let turns = 0;

function turn() {
  for (let index = 0; index < 200; index++) {
    for (const one of swaps) {
      attempt(
        () => swap(one),
        () => mend(one),
      );
    }
    if (index % 10 === 0) {
      attempt(move, () => {
        if (!isThere(`${root}/moved`)) return;
        rmSync(`${root}/deep/e`, { force: true, recursive: true });
        renameSync(`${root}/moved`, `${root}/deep/e`);
      });
    }
  }
  turns += 200;
  setImmediate(turn);
}

for (const one of swaps) mend(one);
process.on('message', () => process.send({ swaps: turns * swaps.length }));
process.on('disconnect', () => process.exit());
process.send('ready');
turn();
