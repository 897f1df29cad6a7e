import { readOptions } from '../read-options.js';
import type { Judge, Judges } from '../shell.js';
import { INHERITED, NOTHING } from '../stream.js';
import { judgeCurl, judgeWget } from './downloads.js';
import { fetches, judgeSent, toUrl } from './leaving.js';
import { judgeRemoteCopy, judgeSsh } from './remote-shells.js';
import { runRest } from './run-payload.js';

/** A listener or a connection; with a program at the other end, it is a door for strangers. */
const judgeNetcat: Judge = (call) => {
  const options = readOptions(call.words, {
    short: 'ecgiopqswxXITmMGO',
    long: ['exec', 'sh-exec', 'lua-exec', 'proxy', 'source', 'source-port', 'wait', 'idle-timeout', 'output'],
  });
  const code = options.value('e', 'c', 'exec', 'sh-exec', 'lua-exec');
  if (
    code !== undefined &&
    /^-\w*[ec]|^--(?:sh-|lua-)?exec/.test(
      call.words.find(({ shown }) => /^-\w*[ec]|exec/.test(shown))?.shown ?? '',
    )
  ) {
    call.findings.block(`${call.name} would give a program (${code.shown}) to whoever is connected.`);
  }
  const [host, port] = options.operands;
  if (host !== undefined) fetches(call, `tcp://${host.shown}${port === undefined ? '' : `:${port.shown}`}`);
  judgeSent(call, call.input);
  return { kind: 'fetched', from: host?.shown ?? call.name };
};

const judgeSocat: Judge = (call) => {
  for (const { shown } of call.words) {
    const code = /^(?:EXEC|SYSTEM|SHELL):(.*?)(?:,|$)/is.exec(shown)?.[1];
    if (code !== undefined) {
      call.findings.block(`socat would give a program (${code}) to whoever is connected.`);
      call.shell.runText(code, call.scope.copy(), INHERITED);
    }
    const host = /^(?:TCP|TCP4|TCP6|UDP|OPENSSL|SSL)(?:-CONNECT)?:([^,]+)/i.exec(shown)?.[1];
    if (host !== undefined) fetches(call, `tcp://${host}`);
  }
  judgeSent(call, call.input);
  return { kind: 'fetched', from: 'socat' };
};

const contacts =
  (scheme: string): Judge =>
  (call) => {
    const [host] = readOptions(call.words, { short: 'ciIstwWlpmQM' }).operands;
    if (host !== undefined) fetches(call, toUrl(host.shown, scheme));
    return { kind: 'fetched', from: host?.shown ?? call.name };
  };

export const NETWORK_JUDGES: Judges = {
  curl: judgeCurl,
  wget: judgeWget,
  wget2: judgeWget,
  http: contacts('http'),
  https: contacts('https'),
  xh: contacts('http'),
  aria2c: contacts('http'),
  axel: contacts('http'),
  lynx: contacts('http'),
  w3m: contacts('http'),
  links: contacts('http'),
  fetch: contacts('http'),
  GET: contacts('http'),
  nc: judgeNetcat,
  ncat: judgeNetcat,
  netcat: judgeNetcat,
  socat: judgeSocat,
  telnet: contacts('tcp'),
  ftp: contacts('ftp'),
  tftp: contacts('tftp'),
  lftp: contacts('ftp'),
  ping: contacts('icmp'),
  ping6: contacts('icmp'),
  traceroute: contacts('icmp'),
  dig: contacts('dns'),
  host: contacts('dns'),
  nslookup: contacts('dns'),
  whois: contacts('whois'),
  ssh: judgeSsh,
  autossh: judgeSsh,
  mosh: judgeSsh,
  scp: judgeRemoteCopy,
  sftp: judgeRemoteCopy,
  rsync: judgeRemoteCopy,
  sshpass: (call) => {
    const at = call.words.findIndex(
      (word, index) => !word.shown.startsWith('-') && !/^-[pfdP]$/.test(call.words[index - 1]?.shown ?? ''),
    );
    return at === -1 ? NOTHING : runRest(call, call.words.slice(at));
  },
};
