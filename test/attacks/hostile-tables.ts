/** Facts about the outside of the sandbox that a hostile command knows. */
export interface Target {
  readonly outside: string;
  readonly secret: string;
  readonly socket: string;
  readonly port: number;
  /** A process outside, and its parent. */
  readonly pid: number;
  readonly ppid: number;
}

type Attack = readonly [string, (target: Target) => string];

/** In Python, because it can make every system call. Each prints GAINED if it reached something forbidden. */
const python = (code: string): string =>
  `python3 - <<'END'\nimport ctypes, os, socket, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n${code}\nEND`;

export const READS: readonly Attack[] = [
  ['by its path', ({ secret }) => `cat ${secret}`],
  [
    'through a link',
    ({ outside, secret }) => `ln -s ${secret} l; cat l; ln -sfn ${outside} d; cat d/secret.txt`,
  ],
  ['through a hard link', ({ secret }) => `ln ${secret} h && cat h`],
  [
    'through the roots of processes',
    ({ secret }) => `cat /proc/*/root${secret} /proc/*/cwd/../secret.txt /proc/1/root/../..${secret}`,
  ],
  [
    'through descriptors of processes',
    ({ secret }) =>
      `for fd in /proc/*/fd/*; do cat "$fd/secret.txt" "$fd/../secret.txt" "$fd/..${secret}"; done`,
  ],
  [
    'through inherited descriptors',
    () => `for n in $(seq 3 30); do cat <&$n; cat /dev/fd/$n/../secret.txt; done 2>&1 | head -c 100000`,
  ],
  [
    'through maps and memory of the helper',
    () => `cat /proc/1/environ /proc/1/maps; head -c 100000 /proc/1/mem; cat /proc/1/task/*/environ`,
  ],
  [
    'through the mount table',
    ({ secret }) =>
      `while read -r _ _ _ _ at _; do cat "$at/secret.txt" "$at/..${secret}"; done < /proc/self/mountinfo`,
  ],
  [
    'after mounting the disk',
    ({ secret }) =>
      `mkdir m; mount -t proc p m; for d in /dev/vda /dev/sda /dev/root $(findmnt -no SOURCE / 2>/dev/null); do mount $d m; cat m${secret}; done; mknod disk b 254 0 && head -c 1000000 disk`,
  ],
  [
    'after leaving the root',
    ({ secret }) =>
      python(`
for step in (lambda: os.chroot('.'), lambda: libc.pivot_root, lambda: os.chdir('/proc/1/root')):
  try: step()
  except OSError: pass
os.chdir('/')
for _ in range(50): os.chdir('..')
print(os.path.exists('${secret.slice(1)}') and open('${secret.slice(1)}').read())`),
  ],
  [
    'in a namespace of its own',
    ({ secret }) =>
      `unshare -Urm sh -c 'mount --bind / /tmp; echo GAINED'; unshare -U true && echo GAINED; nsenter -t 1 -a cat ${secret}`,
  ],
  [
    'by a file handle',
    () =>
      python(`
class H(ctypes.Structure): _fields_ = [('n', ctypes.c_uint), ('t', ctypes.c_int), ('f', ctypes.c_char * 128)]
h, m = H(128, 0), ctypes.c_int()
fd = os.open('.', os.O_RDONLY)
if libc.name_to_handle_at(fd, b'', ctypes.byref(h), ctypes.byref(m), 0x1000) == 0:
  h.f = b'\\x02\\0\\0\\0\\0\\0\\0\\0'
  if libc.open_by_handle_at(fd, ctypes.byref(h), 0) >= 0: print('GAINED')`),
  ],
  [
    'files that deny patterns hide',
    () =>
      'cat .env ./.ENV .//.env; cp .env copy; cat copy; tar c . | cat; grep -ra secret-beside .; dd if=.env; node -p "fs.readFileSync(String(1?`.env`:0),`utf8`)"',
  ],
  [
    'what is hidden, beneath its cover',
    () =>
      'umount .env; umount -l .env; mount --bind . /tmp; mkdir x; mv .env x/; ln .env e; cat e /proc/self/root$PWD/.env',
  ],
];

export const REACHES: readonly Attack[] = [
  [
    'the network, in every family',
    ({ port }) =>
      python(`
for family, at in ((socket.AF_INET, ('127.0.0.1', ${port})), (socket.AF_INET, ('10.0.2.2', 53)), (socket.AF_INET6, ('::ffff:127.0.0.1', ${port}))):
  try:
    s = socket.socket(family); s.settimeout(2); s.connect(at); print('GAINED', s.recv(100))
  except OSError: pass
for family, kind in ((17, socket.SOCK_RAW), (40, socket.SOCK_STREAM)):
  try: socket.socket(family, kind); s.connect((2, 1)); print('GAINED', family)
  except OSError: pass
try: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print('GAINED raw')
except OSError: pass`),
  ],
  [
    'names',
    () =>
      `getent hosts example.com localhost.example && echo GAINED; node -e 'require("dns").lookup("example.com", (e) => e || console.log("GAINED"))'`,
  ],
  [
    'sockets of the machine',
    ({ socket }) =>
      `for s in ${socket} /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket /run/user/*/bus /tmp/ssh-*/agent.* /tmp/.X11-unix/X0; do [ -e "$s" ] && echo "GAINED $s"; done; env | grep -E 'SSH_AUTH_SOCK|DBUS|DOCKER_HOST' && echo GAINED`,
  ],
  [
    'abstract sockets',
    ({ pid }) =>
      python(`
try:
  s = socket.socket(socket.AF_UNIX); s.settimeout(2); s.connect('\\0toolexec-${pid}'); print('GAINED')
except OSError: pass
print('@toolexec-${pid}' in open('/proc/net/unix').read() and 'GAINED')`),
  ],
  [
    'processes outside',
    ({ pid, ppid }) =>
      `kill -9 ${pid} && echo GAINED; kill -STOP ${ppid} && echo GAINED; renice -n 19 -p ${pid} && echo GAINED; kill -9 -1`,
  ],
  [
    'the memory of the helper',
    ({ secret, pid }) =>
      python(`
PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
if libc.ptrace(PTRACE_ATTACH, ${pid}, 0, 0) == 0: print('GAINED')
try: os.open('/proc/1/mem', os.O_RDWR) >= 0 and os.path.exists('/proc/1/root${secret}') and print('GAINED')
except OSError: pass`),
  ],
  [
    'keys of the session',
    () =>
      python(`
for ring in (-3, -4, -5):
  n = libc.syscall(250, 11, ring, ctypes.create_string_buffer(1000), 1000)
  if n > 4: print('GAINED', ring, n)`),
  ],
  [
    'the terminal',
    () =>
      python(`
import fcntl, termios
for at in ('/dev/tty', '/dev/console', '/dev/pts/0'):
  try: fcntl.ioctl(os.open(at, os.O_RDWR | os.O_NOCTTY), termios.TIOCSTI, b'x'); print('GAINED', at)
  except OSError: pass`),
  ],
  [
    'devices',
    () =>
      `ls /dev | grep -vxE 'console|core|fd|full|null|ptmx|pts|random|shm|stderr|stdin|stdout|toolexec|tty|urandom|zero' && echo GAINED; cat /dev/toolexec/* >&2 && echo GAINED; mknod n c 1 1 && head -c 1 n && echo GAINED`,
  ],
  [
    'other rights',
    () =>
      `cp /bin/sh s; chmod u+s,g+s s; ./s -pc 'id -u' | grep -vx "$(id -u)" && echo GAINED; sudo -n true && echo GAINED; su -c true && echo GAINED; chown 1:1 s && echo GAINED; setcap cap_sys_admin+ep s && echo GAINED; rm -f s`,
  ],
  [
    'settings of the kernel',
    () =>
      `# Opened, not written: where it could be, it would do harm.
for f in $(find /proc -path '/proc/[0-9]*' -prune -o -path '*/pressure/*' -prune -o -type f -print) /sys/kernel/uevent_helper; do ( : >> $f ) 2>/dev/null && echo "GAINED $f"; done; hostname gained && [ "$(hostname)" = gained ] && echo GAINED; dmesg && echo GAINED`,
  ],
  [
    'shared memory of others',
    () =>
      `ipcs -m 2>/dev/null | grep -c 0x | grep -vx 0 && echo GAINED; find /dev/shm /dev/mqueue -type f 2>/dev/null | grep . && echo GAINED; true`,
  ],
];

export const MARKER = 'planted-by-a-command';
export const PLANTS: readonly Attack[] = [
  [
    'hooks',
    () =>
      `echo ${MARKER} > .git/hooks/post-checkout; mkdir -p x; mv .git/hooks x/; cp -r x .git/hooks; git config core.hooksPath ${MARKER}; ln -sfn $PWD/x .git/hooks`,
  ],
  [
    'settings of git',
    () =>
      `git config core.fsmonitor ${MARKER}; git config --file .git/config alias.x '!${MARKER}'; echo '[core] pager = ${MARKER}' >> .git/config; cp .git/config c; echo '[a] b = ${MARKER}' >> c; mv -f c .git/config; GIT_CONFIG=.git/config git config a.b ${MARKER}`,
  ],
  [
    'settings beside those of git',
    () =>
      `echo '${MARKER}' > .git/config.worktree; echo '../${MARKER}' > .git/commondir; mkdir .git/worktrees; git config extensions.worktreeConfig true`,
  ],
  [
    'another repository in its place',
    () =>
      `mv .git old; rm -rf .git; mkdir .git; git init --template=/dev/null .; echo ${MARKER} > .git/config; rmdir .git; mv .git/HEAD .git/h; git init; mv .git/h .git/HEAD; sed -i s/x/${MARKER}/ .git/config`,
  ],
  [
    'submodules',
    () =>
      `echo '[submodule "x"] update = !${MARKER}' > .gitmodules; git config -f .gitmodules submodule.x.update '!${MARKER}'; mv .gitmodules g; rm -f .gitmodules`,
  ],
  [
    'tasks of editors',
    () =>
      `echo ${MARKER} > .vscode/settings.json; echo ${MARKER} > .vscode/tasks.json; mv .vscode v; rm -rf .vscode; mkdir -p .vscode && echo ${MARKER} > .vscode/tasks.json`,
  ],
  [
    'files of the person',
    () =>
      `for f in ~/.bashrc ~/.profile ~/.npmrc ~/.gitconfig ~/.config/toolexec/config.toml ~/.local/state/toolexec/journal.db ~/.ssh/authorized_keys; do mkdir -p "$(dirname $f)"; echo ${MARKER} > $f; done; npm config set script-shell ${MARKER}; git config --global core.pager ${MARKER}`,
  ],
  [
    'files of the system',
    ({ outside }) =>
      `for f in /etc/gitconfig /etc/profile.d/x.sh /usr/local/bin/x /etc/ld.so.preload /tmp/x /dev/shm/x /var/tmp/x ${outside}/x; do echo ${MARKER} > $f; done`,
  ],
];
