/**
 * The words of a command that needs no shell to be understood: one simple command of plain words. Undefined: it holds
 * something that a shell reads (quotes, variables, patterns, separators, an assignment before the command).
 */
export function plainWords(text: string): readonly string[] | undefined {
  if (text.length > MAX_LENGTH || !/^[\w./:@%+,=\- ]*$/.test(text)) return undefined;
  const words = text.split(' ').filter((word) => word !== '');
  const [first] = words;
  if (first === undefined || first.includes('=')) return undefined;
  if (KEYWORDS.has(first.slice(first.lastIndexOf('/') + 1))) return undefined;
  return words;
}

const MAX_LENGTH = 65_536;

/** What a shell takes for its own grammar where a command may begin, and programs that run what their words say. */
const KEYWORDS = new Set(
  [
    'case coproc do done elif else esac fi for function if in select then time until while . source',
    'builtin command env eval exec nice nohup setsid stdbuf sudo doas su timeout trap xargs chroot unshare nsenter',
    'sh bash dash zsh ksh fish busybox ssh watch find parallel script strace ltrace flock runuser setpriv',
  ].flatMap((line) => line.split(' ')),
);
