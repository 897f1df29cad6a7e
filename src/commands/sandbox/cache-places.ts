/** Whether a file that a program wrote outside the roots is useless to its user. */
export function isCache(path: string, home: string | undefined): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (ANYWHERE.has(name)) return true;
  if (home !== undefined && path.startsWith(`${home}/`)) return AT_HOME.has(path.slice(home.length + 1));
  return path.startsWith('/tmp/') && IN_TMP.test(path.slice('/tmp/'.length));
}

/** By the name of the directory or file, at any place. */
const ANYWHERE: ReadonlySet<string> = new Set([
  ...['__pycache__', '.pytest_cache', '.mypy_cache', '.ruff_cache', '.hypothesis', '.ipynb_checkpoints'],
  ...['.eslintcache', '.parcel-cache', '.turbo', '.nyc_output', '.DS_Store', 'CACHEDIR.TAG'],
]);

/** Below the home directory: caches, downloads that can be repeated, histories, and internal state. */
const AT_HOME: ReadonlySet<string> = new Set([
  ...[
    '.cache',
    '.ccache',
    '.sccache',
    '.local/state',
    '.local/share/recently-used.xbel',
    '.local/share/Trash',
  ],
  // JavaScript
  ...['.npm', '.pnpm-store', '.local/share/pnpm/store', '.yarn/berry', '.yarn/cache', '.yarnrc.lock'],
  ...['.bun/install/cache', '.node-gyp', '.electron', '.electron-gyp', '.node_repl_history', '.v8flags'],
  ...['.config/configstore', '.config/yarn/global', '.config/nextjs-nodejs', '.config/vercel/update'],
  // Python
  ...['.ipython', '.matplotlib', '.config/matplotlib', '.keras', '.python_history', '.virtualenv/wheel'],
  ...['.pyenv/shims', '.conda/environments.txt', '.conda/pkgs', '.jupyter/migrated', '.local/share/uv'],
  // Rust, Go, Ruby, PHP
  ...['.cargo/registry', '.cargo/git', '.cargo/.package-cache', '.cargo/.package-cache-mutate'],
  ...['.cargo/.global-cache', '.rustup/tmp', '.rustup/downloads', 'go/pkg', '.config/go', '.gem/specs'],
  ...['.bundle/cache', '.local/share/gem/specs', '.composer/cache', '.hex/cache.ets'],
  // Java, .NET
  ...['.m2/repository', '.m2/wrapper', '.gradle/caches', '.gradle/daemon', '.gradle/native'],
  ...['.gradle/wrapper', '.gradle/notifications', '.gradle/.tmp', '.gradle/kotlin-profile', '.ivy2/cache'],
  ...['.sbt/boot', '.java/fonts', '.konan/cache', '.kotlin', '.nuget/packages', '.dotnet', '.templateengine'],
  ...['.local/share/NuGet', '.android/cache'],
  // Shells, editors, programs that reach the network
  ...['.bash_history', '.zsh_history', '.zcompdump', '.lesshst', '.viminfo', '.local/share/nvim/shada'],
  ...['.sqlite_history', '.psql_history', '.mysql_history', '.rediscli_history', '.wget-hsts', '.rnd'],
  ...['.ssh/known_hosts', '.ssh/known_hosts.old', '.pki', '.nv', '.config/pulse', '.config/dconf'],
  ...['.config/htop', '.config/jgit', '.config/gcloud/logs', '.terraform.d/checkpoint_cache'],
  ...['.terraform.d/checkpoint_signature', '.gitconfig.lock'],
]);

/** The first directory or file below `/tmp`: leftovers of runtimes and build tools. */
const IN_TMP =
  /^(?:node-compile-cache|v8-compile-cache-\d+|tsx-\d+|jest_\w+|metro-[\w-]+|haste-map-[\w-]+|npm-\d[^/]*|npm-cache|yarn--[^/]*|pip-[^/]*|pytest-of-[^/]+|go-build[^/]*|rustc[^/]{6}|hsperfdata_[^/]+|\.dotnet|dotnet-diagnostic-[^/]*|clr-debug-pipe-[^/]*|\.NET[^/]*|MSBuildTemp[^/]*|VBCSCompiler|kotlin-daemon[^/]*|\.(?:X11|ICE|XIM|font|Test)-unix|\.X\d+-lock|tmux-\d+|ssh-[^/]+|gpg-[^/]+|\.com\.google\.Chrome\.[^/]+|playwright[^/]*|toolexec-[^/]*|puppeteer_dev_[^/]+)$/;
