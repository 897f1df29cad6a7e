/**
 * Every flag is needed. Without `--cap-drop ALL`, root inside can mount, and write to the machine; without
 * `--disable-userns` it gets the capabilities back in a namespace of its own; without `--new-session` it can type into
 * the terminal; without `--die-with-parent` it outlives us.
 */
export const WALLS: readonly string[] = [
  '--die-with-parent',
  '--new-session',
  '--unshare-user',
  '--unshare-pid',
  '--as-pid-1',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
  ...['--cap-drop', 'ALL'],
  '--disable-userns',
];

export const NETWORK_WALL: readonly string[] = ['--unshare-net'];
