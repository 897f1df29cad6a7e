/** The files of a row, and the program that runs them. */
export interface LaterCodeRow {
  /** For people. */
  readonly what: string;
  /**
   * In the form of deny rules: a name without a slash matches at any depth, a directory includes everything
   * below it, case is ignored.
   */
  readonly patterns: readonly string[];
}

/**
 * Files that programs run later by themselves: changing one changes what a person, an editor or a server runs
 * next.
 */
export const LATER_CODE: readonly LaterCodeRow[] = [
  {
    what: 'Hooks and settings of git',
    patterns: [
      ...['**/.git/hooks', '**/.git/config', '**/.git/config.worktree', '**/.git/commondir'],
      ...['**/.git/modules/**/hooks', '**/.git/**/git-rebase-todo'],
      ...['**/.git/modules/**/config', '.gitconfig', '**/.config/git/config', '.githooks', '.husky'],
      ...['.lefthook', 'lefthook.{yml,yaml,toml,json}', '.lefthook.{yml,yaml,toml,json}'],
      ...['.pre-commit-config.{yml,yaml}', '.overcommit.yml', '.lintstagedrc', '.lintstagedrc.*'],
      ...['lint-staged.config.*', '.simple-git-hooks.*', 'simple-git-hooks.*'],
      ...['.huskyrc', '.huskyrc.*', 'captainhook.json', 'grumphp.yml', 'commitlint.config.*'],
      ...['.commitlintrc', '.commitlintrc.*'],
    ],
  },
  {
    what: 'Continuous integration',
    patterns: [
      ...['**/.github/workflows', '**/.github/actions', '**/.gitea/workflows', '**/.forgejo/workflows'],
      ...['.gitlab-ci.{yml,yaml}', '**/.gitlab/ci', '.circleci', '.travis.yml', '.cirrus.{yml,star}'],
      ...['azure-pipelines.{yml,yaml}', '.azure-pipelines', 'Jenkinsfile', 'Jenkinsfile.*'],
      ...['bitbucket-pipelines.yml', '.drone.{yml,yaml}', '.woodpecker', '.woodpecker.{yml,yaml}'],
      ...['.buildkite', 'appveyor.yml', '.appveyor.yml', 'cloudbuild.{yml,yaml}', '.semaphore', '.teamcity'],
      ...['buildspec.{yml,yaml}'],
      ...['**/.github/hooks', 'action.{yml,yaml}', '.gitlab-ci', '.build.yml', '.builds', 'bamboo-specs'],
      ...['.zuul.{yml,yaml}', '.zuul.d', 'codemagic.yaml', 'bitrise.yml', '.readthedocs.{yml,yaml}'],
      ...['netlify.toml', 'vercel.json', 'render.yaml', 'heroku.yml', '.gitpod.yml', '.replit'],
      ...['.goreleaser.{yml,yaml}', '.releaserc', '.releaserc.*', 'release.config.*', '.release-it.*'],
    ],
  },
  {
    what: 'What package managers and test runners run',
    patterns: [
      ...[
        'package.json',
        'package.{yaml,json5}',
        'composer.json',
        'deno.{json,jsonc}',
        'pyproject.toml',
        'Cargo.toml',
        'Pipfile',
      ],
      ...['.npmrc', '.yarnrc', '.yarnrc.yml', '**/.yarn/plugins', '**/.yarn/releases'],
      ...['.pnpmfile.{cjs,mjs,js}', 'build.rs', '**/.cargo/config', '**/.cargo/config.toml'],
      ...['rust-toolchain', 'rust-toolchain.toml', 'setup.py', 'conftest.py', 'noxfile.py', 'tox.ini'],
      ...['sitecustomize.py', 'usercustomize.py', 'pip.conf', 'Gemfile', 'Podfile', '*.gemspec'],
      ...['binding.gyp', 'pytest.ini', 'setup.cfg', 'bunfig.toml', '.mocharc.*', 'jest.config.*'],
      ...['vitest.config.*', 'vitest.workspace.*', 'playwright.config.*', 'cypress.config.*', 'karma.conf.*'],
      ...['pnpm-workspace.yaml', 'nx.json', 'rush.json', 'nodemon.json', 'ava.config.*', 'wdio.conf.*'],
      ...['vite.config.*', 'webpack.config.*', 'rollup.config.*', 'next.config.*', 'nuxt.config.*'],
      ...['svelte.config.*', 'astro.config.*', 'metro.config.*', 'postcss.config.*', 'tailwind.config.*'],
      ...['babel.config.*', '.babelrc', '.babelrc.*', 'mypy.ini', '.coveragerc', '.flake8', 'fabfile.py'],
      ...['dodo.py', 'hatch.toml', 'hatch_build.py', 'pixi.toml', '.rspec', '.rubocop.yml', 'Guardfile'],
      ...['Capfile', 'Dangerfile', 'Fastfile', 'phpunit.xml', 'phpunit.xml.dist', '.php-cs-fixer.php'],
      ...['.php-cs-fixer.dist.php', 'Package.swift', 'mix.exs', '.formatter.exs', 'rebar.config'],
      ...['.golangci.{yml,yaml,toml,json}', 'Directory.Build.{props,targets}', 'nuget.config'],
      ...[
        'angular.json',
        'firebase.json',
        'serverless.{yml,yaml,json,ts,js}',
        'cdk.json',
        'skaffold.{yml,yaml}',
      ],
    ],
  },
  {
    what: 'Makefiles and the like',
    patterns: [
      ...['Makefile', 'GNUmakefile', 'Makefile.*', '*.mk', 'CMakeLists.txt', 'CMakePresets.json'],
      ...['CMakeUserPresets.json', 'meson.build', 'justfile', '.justfile', '*.just', 'Taskfile.{yml,yaml}'],
      ...['Taskfile.dist.{yml,yaml}', 'Rakefile', 'Rakefile.rb', 'gulpfile.*', 'Gruntfile.*', 'Jakefile'],
      ...['Jakefile.*', 'SConstruct', 'SConscript', 'wscript', 'magefile.go', 'build.zig', 'BUILD.bazel'],
      ...['WORKSPACE.bazel', 'MODULE.bazel', '.bazelrc', '*.gradle', '*.gradle.kts', 'gradlew'],
      ...['gradlew.bat', '**/gradle/wrapper', 'gradle.properties', 'mvnw', 'mvnw.cmd', '.mvn', 'pom.xml'],
      ...['build.xml', 'Earthfile', 'Procfile', 'Vagrantfile', 'Tiltfile', 'dagger.json'],
      ...[
        '*.sbt',
        'build.sc',
        'xmake.lua',
        'premake5.lua',
        'conanfile.py',
        '**/tools/bazel',
        '.bazelversion',
      ],
      ...['*.bzl', 'Setup.hs', 'Procfile.*', 'process-compose.{yml,yaml}', 'bacon.toml', '.air.toml'],
    ],
  },
  {
    what: 'Start files of shells and other programs',
    patterns: [
      ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.zshrc'],
      ...['.zshenv', '.zprofile', '.zlogin', '.zlogout', '.kshrc', '.cshrc', '.tcshrc', '.login', '.logout'],
      ...['**/.config/fish', '.inputrc', '.xinitrc', '.xprofile', '.xsession', '.xsessionrc'],
      ...['.pam_environment', '**/.config/autostart', '**/.config/systemd', '**/.ssh/rc', '**/.ssh/config'],
      ...['**/.ssh/authorized_keys', '**/Library/LaunchAgents', 'crontab', '.vimrc', '.nvimrc', '.nvim.lua'],
      ...['.exrc', '.gvimrc', '.emacs', '.dir-locals.el', '.gdbinit', '.lldbinit', '.pythonrc'],
      ...['.pythonrc.py', '.Rprofile', '.irbrc', '.pryrc', '.tmux.conf', '.screenrc'],
      ...['.iex.exs', '.ghci', '.pdbrc', '.sqliterc', '.psqlrc', '.ipython', '.jupyter', '.gemrc', '.lvimrc'],
      ...['.ycm_extra_conf.py', '**/.config/nvim', '**/Library/LaunchDaemons'],
    ],
  },
  {
    what: 'Tasks and settings of editors and agents',
    patterns: [
      ...['.vscode', '*.code-workspace', '.idea', '.zed', '.fleet', '.devcontainer', '.devcontainer.json'],
      ...['eslint.config.*', '.eslintrc', '.eslintrc.*', 'prettier.config.*', '.prettierrc.{js,cjs,mjs,ts}'],
      ...[
        '.pylintrc',
        'pylintrc',
        '.cursor',
        '.windsurf',
        '.mcp.json',
        'mcp.json',
        '.claude',
        '.codex',
        '.gemini',
        '.toolexec',
      ],
      ...['toolexec.toml'],
      ...['*.sublime-project', '.vs', '.nova', '.helix', '.stylelintrc', '.stylelintrc.*'],
      ...['stylelint.config.*', '.opencode', 'opencode.{json,jsonc}', '.kiro', '.continue', '.roo'],
      ...['.aider.conf.{yml,yaml}'],
    ],
  },
  {
    what: 'Environments that are entered with a directory',
    patterns: [
      ...['.envrc', '.direnvrc', 'mise.toml', '.mise.toml', '.mise', '.rtx.toml', '.autoenv.zsh'],
      ...['flake.nix', 'shell.nix', 'default.nix', 'devenv.nix'],
      ...['.tool-versions', 'devbox.json', '.ddev', '.lando.yml'],
    ],
  },
];
