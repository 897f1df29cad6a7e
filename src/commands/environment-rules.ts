/**
 * Variables that a command does not inherit (D120), one row per reason. `*` matches any characters, including
 * none.
 *
 * - `secret`: the value is confidential. Output is redacted by it.
 * - `access`: the value leads to something confidential (a file, a socket) and is not secret itself.
 * - `code`: the value decides which code other programs run.
 */
export interface EnvironmentRule {
  readonly kind: 'secret' | 'access' | 'code';
  readonly why: string;
  /** Separated by blanks. */
  readonly names: string;
  /** On systems with case-sensitive names, this row is case-sensitive; all others ignore case. */
  readonly keepsCase?: true;
}

/**
 * Whether a name clearly denotes a secret: `KEY`, `db_password`, `apiToken`. Commands do not get such
 * variables; only `sanitizeEnvironment` keeps them, because the configuration's patterns are case-sensitive
 * and need a prefix (D120).
 */
export function isPlainSecretName(name: string): boolean {
  const words = name.toLowerCase().replace(/[_.-]?\d+$/, '');
  const last = words.slice(Math.max(...SEPARATORS.map((separator) => words.lastIndexOf(separator))) + 1);
  return LAST_WORDS.has(last) || (/[a-z0-9][A-Z]/.test(name) && LAST_WORD_CAPITALIZED.test(name));
}

const SEPARATORS = ['_', '.', '-'] as const;

/** No regular expression: compiling one that ignores case takes longer than all other work on a name. */
const LAST_WORDS: ReadonlySet<string> = new Set(
  (
    'token tokens secret secrets password passwords passwd pass passphrase key keys apikey auth authorization jwt bearer ' +
    'cookie creds credential credentials mnemonic pat otp'
  ).split(' '),
);

const LAST_WORD_CAPITALIZED =
  /[a-z0-9](?:Token|Secret|Password|Passwd|Pass|Passphrase|Key|Auth|Jwt|JWT|Creds|Credentials?)\d*$/;

/** The first row that matches a name applies. */
export const ENVIRONMENT_RULES: readonly EnvironmentRule[] = [
  {
    kind: 'access',
    why: 'falls under AWS_*, OPENAI_* and ANTHROPIC_*, but names a place, an account or a model',
    names:
      'AWS_REGION AWS_DEFAULT_REGION AWS_PROFILE AWS_DEFAULT_PROFILE AWS_DEFAULT_OUTPUT AWS_CA_BUNDLE AWS_PAGER AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_SDK_LOAD_CONFIG AWS_EXECUTION_ENV OPENAI_BASE_URL OPENAI_MODEL ANTHROPIC_BASE_URL ANTHROPIC_MODEL',
    keepsCase: true,
  },
  {
    kind: 'secret',
    why: 'the defaults of the configuration',
    names: '*_KEY *_TOKEN *_SECRET *_PASSWORD AWS_* ANTHROPIC_* OPENAI_*',
    keepsCase: true,
  },
  // Keys and passwords under common names.
  {
    kind: 'secret',
    why: 'API keys',
    names: 'API_KEY *_API_KEY *_API_KEY_* *APIKEY* *ACCESS_KEY* *ACCESSKEY* *_KEY_*',
  },
  {
    kind: 'secret',
    why: 'private keys and certificates with one',
    names: '*PRIVATE_KEY* *PRIVATEKEY* *_PEM *_P12 *_PFX',
  },
  {
    kind: 'secret',
    why: 'secrets',
    names: '*_SECRET_* SECRET_* *_SECRETS *CLIENT_SECRET* *CLIENTSECRET* *SECRETKEY*',
  },
  {
    kind: 'secret',
    why: 'passwords',
    names: '*_PASSWORD_* *_PASSWORDS *_PASSWD *_PASS *_PWD *PASSPHRASE* *PASSCOMMAND*',
  },
  {
    kind: 'secret',
    why: 'passwords, without a separator in the name',
    names: 'PGPASSWORD SSHPASS SUDO_PASS *DBPASSWORD *DBPASS',
  },
  {
    kind: 'secret',
    why: 'tokens',
    names: '*_TOKEN_* *AUTHTOKEN* *AUTH_TOKEN* *ACCESSTOKEN* *ACCESS_TOKEN* *_PAT *_JWT *_BEARER',
  },
  {
    kind: 'secret',
    why: 'proofs of identity that are sent to services',
    names: '*_AUTH *__AUTH *_AUTHORIZATION *_COOKIE *_SESSION_ID *_AUTH_HEADER',
  },
  {
    kind: 'secret',
    why: 'credentials of clouds and registries',
    names: '*_CREDS *_CREDENTIALS_JSON *_CREDENTIALS_RAW DOCKER_AUTH_CONFIG *_SAS *_SAS_URL *_SIGNED_URL',
  },
  { kind: 'secret', why: 'variables of Terraform, which has no other place for secrets', names: 'TF_VAR_*' },
  {
    kind: 'secret',
    why: 'addresses with a password in them',
    names:
      'DATABASE_URL *_DATABASE_URL DATABASE_URI *_DATABASE_URI DB_URL *_DB_URL DB_URI DATABASE_DSN DSN *_DSN *_CONN_STR *CONNECTION_STRING* *CONNECTIONSTRING* JDBC_URL *_JDBC_URL',
  },
  {
    kind: 'secret',
    why: 'addresses of databases',
    names:
      'MONGO*_URI MONGO*_URL POSTGRES*_URL POSTGRES*_URI PG_URL PGURI MYSQL*_URL MARIADB_URL REDIS*_URL REDIS_URI VALKEY_URL CLICKHOUSE_URL COUCHDB_URL NEO4J_URI ELASTICSEARCH_URL OPENSEARCH_URL CASSANDRA_URL TURSO_*_URL',
  },
  {
    kind: 'secret',
    why: 'addresses of queues and mail servers',
    names:
      '*AMQP*_URL RABBITMQ_URL RABBITMQ_URI *BROKER_URL CELERY_RESULT_BACKEND KAFKA_URL NATS_URL SMTP_URL MAIL_URL MAILER_URL CLOUDINARY_URL',
  },
  { kind: 'secret', why: 'the address alone gives access', names: '*WEBHOOK*' },
  // Variables that lead to keys.
  {
    kind: 'access',
    why: 'files with credentials',
    names:
      '*CREDENTIAL* KUBECONFIG DOCKER_CONFIG REGISTRY_AUTH_FILE NETRC CURL_HOME WGETRC PGPASSFILE PGSERVICEFILE PGSYSCONFDIR MYSQL_TEST_LOGIN_FILE MYSQL_HOME BOTO_CONFIG TF_CLI_CONFIG_FILE CLOUDSDK_CONFIG AZURE_CONFIG_DIR NPM_CONFIG_USERCONFIG NPM_CONFIG_GLOBALCONFIG PYPIRC HELM_REGISTRY_CONFIG',
  },
  {
    kind: 'access',
    why: 'keyrings and tickets',
    names: 'GNUPGHOME PASSWORD_STORE_DIR KRB5CCNAME KRB5_KTNAME KRB5_CLIENT_KTNAME XAUTHORITY ICEAUTHORITY',
  },
  {
    kind: 'access',
    why: 'agents that sign or decrypt on request',
    names:
      'SSH_AUTH_SOCK SSH_AGENT_PID SSH_AGENT_LAUNCHER GPG_AGENT_INFO GPG_TTY GNOME_KEYRING_* KDEWALLET* *_AGENT_SOCK',
  },
  {
    kind: 'access',
    why: 'the session bus: keeps secrets and starts programs',
    names: 'DBUS_* SESSION_MANAGER NOTIFY_SOCKET LISTEN_FDS LISTEN_PID LISTEN_FDNAMES',
  },
  {
    kind: 'access',
    why: 'daemons that start containers',
    names: 'DOCKER_HOST DOCKER_CONTEXT DOCKER_CERT_PATH CONTAINER_HOST CONTAINERD_ADDRESS PODMAN_HOST',
  },
  {
    kind: 'access',
    why: 'terminals and editors that accept input from other programs',
    names:
      'TMUX TMUX_PANE STY WINDOWID ZELLIJ* KITTY_LISTEN_ON WEZTERM_UNIX_SOCKET NVIM NVIM_LISTEN_ADDRESS VIM_SERVERNAME VSCODE_IPC_HOOK* VSCODE_GIT_* I3SOCK SWAYSOCK HYPRLAND_INSTANCE_SIGNATURE',
  },
  { kind: 'access', why: 'writes the keys of TLS connections to a file', names: 'SSLKEYLOGFILE' },
  // Variables that make programs run code.
  {
    kind: 'code',
    why: 'libraries loaded into every program',
    names: 'LD_* DYLD_* _RLD_* LIBPATH SHLIB_PATH',
  },
  {
    kind: 'code',
    why: 'settings that the loader ignores for privileged programs',
    names:
      'GCONV_PATH GETCONF_DIR GLIBC_TUNABLES HOSTALIASES LOCALDOMAIN LOCPATH MALLOC_TRACE NIS_PATH NLSPATH RESOLV_HOST_CONF RES_OPTIONS',
  },
  {
    kind: 'code',
    why: 'read or run when a shell starts, or before each of its lines',
    names:
      'BASH_ENV ENV ZDOTDIR FPATH PROMPT_COMMAND PS0 PS4 BASH_LOADABLES_PATH BASH_XTRACEFD SHELLOPTS BASHOPTS',
  },
  {
    kind: 'code',
    why: 'functions that a shell exports: they replace commands',
    names: 'BASH_FUNC_* __BASH_FUNC*',
  },
  { kind: 'code', why: 'changes how a shell reads words and paths', names: 'IFS CDPATH GLOBIGNORE' },
  {
    kind: 'code',
    why: 'modules and options of Node',
    names:
      'NODE_OPTIONS NODE_PATH NODE_REPL_* NODE_CHANNEL_* NODE_UNIQUE_ID ELECTRON_RUN_AS_NODE BUN_OPTIONS TSX_* TS_NODE_*',
  },
  {
    kind: 'code',
    why: 'programs that npm runs',
    names:
      'NPM_CONFIG_SCRIPT_SHELL NPM_CONFIG_SHELL NPM_CONFIG_NODE_OPTIONS NPM_CONFIG_GIT NPM_CONFIG_EDITOR NPM_CONFIG_VIEWER NPM_CONFIG_PREFIX NPM_CONFIG_NODE_GYP',
  },
  {
    kind: 'code',
    why: 'modules and hooks of Python',
    names:
      'PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONUSERBASE PYTHONBREAKPOINT PYTHONEXECUTABLE PYTHONPLATLIBDIR PYTHONWARNINGS PYTHONPYCACHEPREFIX',
  },
  {
    kind: 'code',
    why: 'modules and options of Ruby',
    names: 'RUBYOPT RUBYLIB RUBYSHELL BUNDLE_BIN_PATH BUNDLER_SETUP',
  },
  {
    kind: 'code',
    why: 'modules and options of Perl',
    names: 'PERL5OPT PERL5LIB PERLLIB PERL5DB PERL5SHELL PERL_UNICODE',
  },
  {
    kind: 'code',
    why: 'agents and classes of Java',
    names:
      'JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JDK_JAVAC_OPTIONS JAVA_OPTS CLASSPATH MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS SBT_OPTS ANT_OPTS',
  },
  {
    kind: 'code',
    why: 'profiler and startup hooks of .NET',
    names:
      'DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_* COR_PROFILER* COR_ENABLE_PROFILING COMPLUS_*',
  },
  {
    kind: 'code',
    why: 'modules of other languages',
    names:
      'LUA_INIT* LUA_PATH* LUA_CPATH* PHPRC PHP_INI_SCAN_DIR R_PROFILE* R_ENVIRON* R_LIBS* JULIA_LOAD_PATH JULIA_DEPOT_PATH CAML_LD_LIBRARY_PATH OCAMLRUNPARAM GUILE_LOAD_* TCLLIBPATH ERL_FLAGS ERL_*FLAGS ERL_LIBS ELIXIR_ERL_OPTIONS AWKPATH AWKLIBPATH GOFLAGS',
  },
  {
    kind: 'code',
    why: 'programs that build tools run',
    names:
      'RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC RUSTFLAGS CARGO_BUILD_RUSTC* CARGO_*_RUNNER CARGO_*_LINKER CARGO_*_RUSTFLAGS MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES CMAKE_TOOLCHAIN_FILE CMAKE_*_LAUNCHER QEMU_LD_PREFIX',
  },
  {
    kind: 'code',
    why: 'programs and settings that git runs',
    names:
      'GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_CONFIG GIT_CONFIG_* GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_ALLOW_PROTOCOL GIT_PROTOCOL_FROM_USER GIT_ATTR_*',
  },
  {
    kind: 'code',
    why: 'a repository other than that of the directory, with its hooks',
    names:
      'GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_CEILING_DIRECTORIES',
  },
  {
    kind: 'code',
    why: 'writes what git sends to a file or the terminal, credentials too',
    names: 'GIT_TRACE*',
  },
  { kind: 'code', why: 'programs that ask for passwords', names: '*_ASKPASS SSH_ASKPASS_REQUIRE' },
  {
    kind: 'code',
    why: 'programs that show output, and would wait for a key',
    names: 'PAGER *_PAGER MANPAGER MANROFFOPT LESSOPEN LESSCLOSE LESSKEY* LESSSECURE LESS MORE',
  },
  {
    kind: 'code',
    why: 'programs that are opened on a file or an address, and would wait for the person',
    names: 'EDITOR *_EDITOR HGEDITOR VISUAL *_VISUAL FCEDIT BROWSER VIMINIT EXINIT GVIMINIT',
  },
  {
    kind: 'code',
    why: 'remote shells of copying programs',
    names: 'RSYNC_RSH RSYNC_CONNECT_PROG RSYNC_PROXY CVS_RSH SVN_SSH HGRCPATH RCLONE_*_COMMAND',
  },
  {
    kind: 'code',
    why: 'options that name programs or modules',
    names:
      'TAR_OPTIONS OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES TF_CLI_ARGS* TF_REATTACH_PROVIDERS ANSIBLE_*_PLUGINS ANSIBLE_CONFIG GTK_MODULES GTK_PATH QT_PLUGIN_PATH GIO_EXTRA_MODULES GST_PLUGIN_PATH* TERMINFO TERMINFO_DIRS TERMCAP SYSTEMD_UNIT_PATH',
  },
];
