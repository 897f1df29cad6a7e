import type { Field } from './field.js';
import type { Findings } from './findings.js';
import { effectPath } from './judge-place.js';
import type { Scope } from './scope.js';

export function readEffect(findings: Findings, field: Field, scope: Scope): void {
  report('read', findings, field, scope);
}

export function writeEffect(findings: Findings, field: Field, scope: Scope): void {
  report('write', findings, field, scope);
}

export function deleteEffect(findings: Findings, field: Field, scope: Scope): void {
  report('delete', findings, field, scope);
}

/** A file, or what a package calls its script, is run: what it touches is not told by the command. */
export function runsUnseen(findings: Findings): void {
  findings.effect({ kind: 'unknown' });
}

/** A path that cannot be told is an effect that cannot be told. */
function report(kind: 'read' | 'write' | 'delete', findings: Findings, field: Field, scope: Scope): void {
  for (const directory of [scope.directory, ...scope.elsewhere]) {
    const path = effectPath(field, directory);
    if (path === undefined) findings.effect({ kind: 'unknown' });
    else if (!IS_STREAM.test(path)) findings.effect({ kind, path });
  }
}

const IS_STREAM = /^\/dev\/(?:null|zero|full|tty|std(?:in|out|err)|u?random|fd\/\d+|tcp\/.*|udp\/.*)$/;
