/** Writes shell texts by grammar, every construct within every other, and sometimes breaks one. */
export class ShellWriter {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  text(): string {
    const text = this.list(4);
    return this.#chance(0.2) ? this.#break(text) : text;
  }

  /** Commands one after the other. */
  list(depth: number): string {
    const count = this.#chance(0.6) ? 1 : 2;
    let text = '';
    for (let index = 0; index < count; index++) {
      const command = this.pipeline(depth);
      text += index === 0 ? command : this.#join(text, command);
    }
    return text;
  }

  pipeline(depth: number): string {
    if (this.#chance(0.8)) return this.command(depth);
    const operator = this.#pick([' | ', ' |& ', '|', ' && ', ' || ', '&&']);
    const first = this.command(depth - 1);
    // A here-document ends its line.
    return first.includes('<<') ? `${first}\n` : `${first}${operator}${this.command(depth - 1)}`;
  }

  command(depth: number): string {
    if (depth <= 0 || this.#chance(0.25)) return this.simple(depth);
    const list = () => this.list(depth - 1);
    const closed = () => `${list()}\n`;
    return this.#pick<() => string>([
      () => this.simple(depth),
      () => this.simple(depth),
      () => this.wrapped(depth),
      () => this.wrapped(depth),
      () => `(${closed()})`,
      () => `{ ${closed()}}`,
      () => `if ${closed()}then ${closed()}else ${closed()}fi`,
      () => `while ${closed()}do ${closed()}break\ndone`,
      () => `until ${closed()}do ${closed()}break\ndone`,
      () => `for x in ${this.word(depth - 1)} b; do ${closed()}done`,
      () => `for ((i=0;i<1;i++)); do ${closed()}done`,
      () =>
        `case ${this.word(depth - 1)} in x|${this.#pick(['a', '*', '"b"'])}) ${closed()};; *) ${closed()};; esac`,
      () => `f() { ${closed()}}; f`,
      () => `function g { ${closed()}}\ng ${this.word(depth - 1)}`,
      () => `! ${this.command(depth - 1)}`,
      () => `time ${this.command(depth - 1)}`,
      () => `[[ ${this.word(depth - 1)} == ${this.word(depth - 1)} || -n ${this.word(depth - 1)} ]]`,
      () => `(( 1 + ${this.#substitution(depth - 1)}0 ))`,
      () => `x=${this.word(depth - 1)}`,
      () => `a=(${this.word(depth - 1)} [2]=${this.word(depth - 1)})`,
      () => `a[$(${list()})]=${this.word(depth - 1)}`,
      () => `coproc { ${closed()}}\nwait`,
      () => `{ ${closed()}} ${this.redirection(depth - 1)}`,
    ])();
  }

  simple(depth: number): string {
    const parts = [this.name()];
    while (this.#chance(0.5)) parts.push(this.word(depth - 1));
    if (this.#chance(0.15)) parts.unshift(`v=${this.word(depth - 1)}`);
    if (this.#chance(0.2)) parts.push(this.redirection(depth - 1));
    if (this.#chance(0.05)) parts.push('# s9 $(s9)\n');
    return parts.join(this.#pick([' ', ' ', ' ', '  ', '\t', ' \\\n']));
  }

  name(): string {
    const digit = this.#pick(['0', '1', '2', '3']);
    return this.#pick([
      ...[
        `s${digit}`,
        `s${digit}`,
        `s${digit}`,
        `s${digit}`,
        `'s${digit}'`,
        `"s${digit}"`,
        `\\s${digit}`,
        `s\\${digit}`,
      ],
      ...[
        `s"${digit}"`,
        `s''${digit}`,
        `$'s${digit}'`,
        `$'\\x73${digit}'`,
        `/bin/s${digit}`,
        `"/bin"/s${digit}`,
      ],
      ...[
        `s\\\n${digit}`,
        `$"s${digit}"`,
        `{s${digit},x}`,
        `s$()${digit}`,
        `$(echo s${digit})`,
        's[0]',
        `$'\\163${digit}'`,
      ],
    ]);
  }

  word(depth: number): string {
    const plain = [
      'a',
      'b',
      "'a b'",
      '"a b"',
      'a\\ b',
      "'$(s9)'",
      '\\$\\(s9\\)',
      '"\\$(s9)"',
      "$'\\'$(s9)'",
      'a#b',
      '""',
      "''",
    ];
    const special = [
      '$x',
      '"$x"',
      '$1',
      '"$@"',
      '~',
      '*',
      '{a,b}',
      '{1..3}',
      '?',
      '[ab]',
      '$#',
      `\${x}`,
      `\${#x}`,
      '$((1+2))',
      '-n',
      '--',
      '=',
      'a=b',
      '@(a|b)',
      '!',
      '}',
      ']]',
      'if',
      'done',
    ];
    if (depth <= 0 || this.#chance(0.45)) return this.#pick(this.#chance(0.7) ? plain : special);
    const inner = () => this.list(depth - 1);
    const word = () => this.word(depth - 1);
    return this.#pick<() => string>([
      () => this.#substitution(depth),
      () => `"${this.#substitution(depth)}"`,
      () => `"a ${this.#substitution(depth)} b"`,
      () => `x${this.#substitution(depth)}y`,
      () => `\${x:-${word()}}`,
      () => `"\${x:-${this.#substitution(depth)}}"`,
      () => `\${x:+${word()}}`,
      () => `\${x:=${word()}}`,
      () => `\${x#${word()}}`,
      () => `\${x%%${word()}}`,
      () => `\${x/${word()}/${word()}}`,
      () => `\${x:$((${this.#substitution(depth)}0)):1}`,
      () => `\${a[$(${inner()})0]}`,
      () => `$((0${this.#substitution(depth)}))`,
      () => `<(${inner()}\n)`,
      () => `>(${inner()}\n)`,
      () => `{a,${word()}}`,
      () => `$"${this.#substitution(depth)}"`,
      () => `@(a|${this.#substitution(depth)})`,
      () => `"\\\\${this.#substitution(depth)}"`,
      () => `'${inner().replaceAll("'", '')}'`,
      () => `${word()}${word()}`,
    ])();
  }

  redirection(depth: number): string {
    const inner = () => this.list(depth - 1);
    return this.#pick<() => string>([
      () => '>f',
      () => '2>&1',
      () => '>>f',
      () => '>|f',
      () => '&>f',
      () => '<a',
      () => '3<a',
      () => '{fd}>f',
      () => '>&-',
      () => `>${depth > 0 ? `"f$(${inner()})"` : 'f'}`,
      () => `<<< ${this.word(depth)}`,
      () => `<<EOF\nx ${depth > 0 ? this.#substitution(depth) : ''} \\$(s9)\nEOF\n`,
      () => `<<'EOF'\n$(s9)\nEOF\n`,
      () => `<<"E"F\n$(s9) \`s9\`\nEF\n`,
      () => `<<-EOF\n\tx $(${depth > 0 ? inner() : 's4'}\n)\n\tEOF\n`,
      () => `< <(${depth > 0 ? inner() : 's4'}\n)`,
      () => `> >(${depth > 0 ? inner() : 's4'}\n)`,
    ])();
  }

  /** A command inside a program that starts commands. */
  wrapped(depth: number): string {
    const simple = () => this.simple(0).replaceAll(/\s*(?:<<|[<>]).*/gs, '');
    const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
    const code = () => quoted(this.list(depth - 1));
    return this.#pick<() => string>([
      () => `env ${simple()}`,
      () => `env -i A=1 /bin/${this.#pick(STUB_NAMES)} a`,
      () => `env -u A -- ${simple()}`,
      () => `A=1 B=$(s5) ${simple()}`,
      () => `command ${simple()}`,
      () => `command -p -- ${simple()}`,
      () => `(exec ${simple()})`,
      () => `(exec -a z ${simple()})`,
      () => `builtin eval ${code()}`,
      () => `eval ${code()}`,
      () => `eval ${simple()}`,
      () => `bash -c ${code()}`,
      () => `bash --norc -ec ${code()} x y`,
      () => `sh -c ${code()}`,
      () => `dash -c ${quoted(`s${this.#pick(['1', '2'])} "$1"`)} x y`,
      () => `bash <<< ${code()}`,
      () => `bash -s <<< ${code()}`,
      () => `bash <<'XX'\n${this.list(depth - 1)}\nXX\n`,
      () => `echo ${code()} | bash`,
      () => `printf %s ${code()} | sh`,
      () => `source <(echo ${code()})`,
      () => `. /dev/stdin <<< ${code()}`,
      () => `xargs ${simple()} <<< 'a b'`,
      () => `echo s6 | xargs -I{} {} x`,
      () => `echo a | xargs -n 1 env ${simple()}`,
      () => `find . -maxdepth 0 -exec ${this.#pick(STUB_NAMES)} {} \\;`,
      () => `find . -maxdepth 0 -exec sh -c ${code()} \\; -quit`,
      () => `timeout 5 ${simple()}`,
      () => `timeout -s KILL -k 1 5 ${simple()}`,
      () => `nice -n 1 ${simple()}`,
      () => `nohup ${simple()}`,
      () => `setsid -w ${simple()}`,
      () => `trap ${code()} EXIT`,
      () => `trap ${code()} DEBUG; :`,
      () => `shopt -s expand_aliases\nalias z=${code()}\nz`,
      () => `mapfile -C s7 -c 1 q <<< x`,
      () => `x='$(s7)'; : "\${x@P}"`,
      () => `x='q[$(s7)]'; ((x))`,
      () => `x='q[$(s7)]'; : $((x))`,
      () => `x='q[$(s7)]'; [[ -v $x ]]`,
      () => `x='q[$(s7)]'; [[ x -eq 1 ]]`,
      () => `x='q[$(s7)]'; test -v "$x"`,
      () => `x='q[$(s7)]'; printf -v "$x" a`,
      () => `x='q[$(s7)]'; read "$x" <<< a`,
      () => `x='q[$(s7)]'; unset "$x"`,
      () => `x='q[$(s7)]'; : "\${!x}"`,
      () => `x='q[$(s7)]'; declare "$x=1"`,
      () => `x='q[$(s7)]'; let x`,
      () => `x='q[$(s7)]'; : "\${q[x]}"`,
      () => `x='q[$(s7)]'; q[x]=1`,
      () => `x='q[$(s7)]'; : "\${a:x}"`,
      () => `declare -i x='q[$(s7)]'`,
      () => `declare -n r='q[$(s7)]'; : $r`,
      () => `PS4='$(s7)'; set -x; :`,
      () => `BASH_ENV=<(echo s7) bash -c :`,
      () => `hash -p /bin/s7 zz; zz`,
      () => `command_not_found_handle() { s7; }; nonesuch`,
      () => `sed '1e s7' a`,
      () => `sed 's/x/s7/e' <<< x`,
      () => `set -- s7 a; "$@"`,
      () => `x=s7; $x`,
      () => `p() { "$@"; }; p ${simple()}`,
      () => `s1() { s7; }; s1`,
      () =>
        `cat <<EOF | bash\n${this.list(depth - 1)
          .replaceAll('$', '\\$')
          .replaceAll('`', '\\`')}\nEOF\n`,
    ])();
  }

  #substitution(depth: number): string {
    const inner = depth > 0 ? this.list(depth - 1) : this.simple(0);
    return this.#chance(0.75)
      ? `$(${inner}\n)`
      : `\`${inner.replaceAll(/[`\\]/g, '\\$&').replaceAll('\\\\$', '\\$')}\``;
  }

  #join(text: string, command: string): string {
    if (text.endsWith('\n')) return command;
    return `${this.#pick(['; ', '\n', ' & ', '\n\n', ';'])}${command}`;
  }

  /** One character more, less or moved. */
  #break(text: string): string {
    const at = Math.floor(this.#next() * text.length);
    const mark = this.#pick([
      '"',
      "'",
      '`',
      '$',
      '(',
      ')',
      '{',
      '}',
      '\\',
      '\n',
      ';',
      '&',
      '|',
      '#',
      '<',
      '>',
      ' ',
      '=',
      '[',
      ']',
      '!',
      '<<',
      '((',
      '))',
      '$(',
      `\${`,
      "$'",
      '\\\n',
      '*',
      '~',
      ',',
      '/',
      ':',
      '@',
    ]);
    return this.#pick([
      () => text.slice(0, at) + mark + text.slice(at),
      () => text.slice(0, at) + text.slice(at + 1),
      () => text.slice(0, at) + mark + text.slice(at + 1),
    ])();
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#next() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  #chance(share: number): boolean {
    return this.#next() < share;
  }

  /** Mulberry32: the same texts for the same seed everywhere. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}

const STUB_NAMES = ['s0', 's1', 's2'];
