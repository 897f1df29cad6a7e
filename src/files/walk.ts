import { dirname, join, parse } from 'node:path';
import type { ToolError } from '../errors/tool-error.js';
import { syncDirectory } from '../platform/fs/fs-bytes.js';
import { entryStat, linkText, makeDirectory } from '../platform/fs/fs-entry.js';
import type { Handle } from '../platform/fs/open-handle.js';
import { assertAllowed, type Containment } from './containment.js';
import type { Access } from './deny-rules.js';
import { fileSystemError } from './file-failure.js';
import { componentsOf, type PathRequest } from './parse-request.js';
import { outsideRoots, quote } from './violations.js';

/** The limit of Linux. */
const MAX_LINKS = 40;

export interface WalkOptions {
  readonly access: Access;
  /** Whether a link at the end is followed too. */
  readonly followLast: boolean;
  /** Creates missing directories on the way. */
  readonly createParents: boolean;
}

/** The end of a walk. The caller closes `parent`. */
export interface Place {
  /** The deepest existing directory on the way. */
  readonly parent: Handle;
  /** An entry of `parent`; `.` for a root itself. */
  readonly name: string;
  /** The directories to create below `parent`; if empty, only `name` may be missing. */
  readonly missing: readonly string[];
  /** Canonical: it contains no link. */
  readonly path: string;
  /** The missing part comes from a link, not from the request. */
  readonly isDangling: boolean;
  /** The directories created on the way, canonical, outermost first. */
  readonly made: readonly string[];
}

/**
 * Walks down from an open root, one component at a time, and follows links by walking their target text, so
 * that no directory can be swapped on the way (D049).
 * @throws ToolError `sandbox_violation` for links that lead outside, to a denied path, or in a circle
 */
export function walk(containment: Containment, request: PathRequest, options: WalkOptions): Place {
  const walker = new Walker(containment, request, options);
  try {
    return walker.run();
  } finally {
    walker.close();
  }
}

interface Step {
  readonly name: string;
  readonly handle: Handle;
}

class Walker {
  private root: string;
  private steps: Step[];
  private queue: string[];
  /** How many components at the end of the queue come from the request; the others come from a link. */
  private own: number;
  private links = 0;
  /** The last link that was followed. */
  private followed = '';
  private readonly made: string[] = [];

  constructor(
    private readonly containment: Containment,
    private readonly request: PathRequest,
    private readonly options: WalkOptions,
  ) {
    this.root = request.root;
    this.steps = [{ name: '.', handle: this.openRoot(request.root) }];
    this.queue = [...request.components];
    this.own = this.queue.length;
  }

  run(): Place {
    for (;;) {
      const isNamedByLink = this.queue.length > this.own;
      const name = this.queue.shift();
      this.own = Math.min(this.own, this.queue.length);
      if (name === undefined) return this.arriveAtDirectory();
      if (name === '..') {
        this.goUp();
        continue;
      }
      const place =
        this.queue.length === 0 ? this.last(name, isNamedByLink) : this.enter(name, isNamedByLink);
      if (place !== undefined) return place;
    }
  }

  close(): void {
    for (const step of this.steps) step.handle.close();
    this.steps = [];
  }

  private last(name: string, isNamedByLink: boolean): Place | undefined {
    const entry = entryStat(this.at(name));
    if (entry?.isSymbolicLink() !== true || !this.options.followLast) {
      return this.place([], name, isNamedByLink && entry === undefined);
    }
    this.follow(name, isNamedByLink);
    return undefined;
  }

  private enter(name: string, isNamedByLink: boolean): Place | undefined {
    const handle = this.containment.opener.openDirectory(this.at(name));
    if (handle === 'other') {
      this.follow(name, isNamedByLink);
    } else if (handle !== 'missing') {
      this.steps.push({ name, handle });
    } else if (this.options.createParents && !isNamedByLink) {
      this.make(name);
    } else {
      return this.placeMissing(name, isNamedByLink);
    }
    return undefined;
  }

  private make(name: string): void {
    const isOurs = makeDirectory(this.at(name));
    const handle = this.containment.opener.openDirectory(this.at(name));
    if (isOurs && handle !== 'missing' && handle !== 'other') {
      const parent = this.top().handle.at;
      this.steps.push({ name, handle });
      this.made.push(this.path());
      // A file written into the new directory must not be lost with it in a power failure.
      syncDirectory(parent);
      return;
    }
    // Another process created a directory or link first: it is entered like any other.
    if (handle !== 'missing' && handle !== 'other') handle.close();
    this.lookAgain(name, false);
  }

  private follow(name: string, isNamedByLink: boolean): void {
    const text = linkText(this.at(name));
    if (text === undefined) {
      const entry = entryStat(this.at(name));
      const isSwapped = entry === undefined || entry.isDirectory() || this.queue.length === 0;
      if (!isSwapped) throw fileSystemError('ENOTDIR');
      this.lookAgain(name, isNamedByLink);
      return;
    }
    this.countLink();
    this.followed = join(this.path(), name);
    this.queue = [...componentsOf(text), ...this.queue];
    const { root: top } = parse(text);
    if (top === '') this.assertSpellingAllowed();
    else this.restart(top);
  }

  private lookAgain(name: string, isNamedByLink: boolean): void {
    this.countLink();
    this.queue.unshift(name);
    if (!isNamedByLink) this.own++;
  }

  /** A circle of links, or a process that changes the path faster than we walk it. */
  private countLink(): void {
    if (++this.links > MAX_LINKS) {
      throw this.outside(`its links do not end within ${MAX_LINKS} steps`);
    }
  }

  /** A name on the way may be denied even if it is a link to a harmless target. */
  private assertSpellingAllowed(): void {
    const spelled = join(this.path(), ...this.queue);
    if (this.containment.rootSet.rootOf(spelled) === undefined) return;
    assertAllowed(this.containment, this.request.asked, spelled, this.options.access);
  }

  private goUp(): void {
    if (this.steps.length > 1) {
      this.steps.pop()?.handle.close();
      return;
    }
    this.queue = [...componentsOf(dirname(this.root)), ...this.queue];
    this.restart(parse(this.root).root);
  }

  /** Nothing outside the roots is read: the link's text must name a root, otherwise it leads outside. */
  private restart(top: string): void {
    let reached = top;
    for (let index = 0; index <= this.queue.length; index++) {
      const root = this.containment.rootSet.spellings.get(reached);
      if (root !== undefined) {
        this.close();
        this.root = root;
        this.steps = [{ name: '.', handle: this.openRoot(root) }];
        this.queue = this.queue.slice(index);
        this.assertSpellingAllowed();
        return;
      }
      reached = join(reached, this.queue[index] ?? '.');
    }
    throw this.outside(`the link ${quote(this.followed)} in its path leads outside the roots`);
  }

  private openRoot(root: string): Handle {
    const handle = this.containment.opener.openDirectory(root);
    if (handle !== 'missing' && handle !== 'other') {
      if (handle.name() === root) return handle;
      handle.close();
    }
    throw this.outside(`the root ${quote(root)} is gone or was replaced`);
  }

  private outside(why: string): ToolError {
    return outsideRoots(this.request.asked, why, this.containment.rootSet);
  }

  private arriveAtDirectory(): Place {
    const { name } = this.top();
    if (this.steps.length === 1) return this.place([], '.', false);
    this.steps.pop()?.handle.close();
    return this.place([], name, false);
  }

  private placeMissing(name: string, isDangling: boolean): Place {
    if (this.queue.includes('..')) throw fileSystemError('ENOENT');
    const rest = [name, ...this.queue];
    return this.place(rest.slice(0, -1), rest.at(-1) ?? name, isDangling);
  }

  /** Transfers the innermost handle; `close` closes the others. */
  private place(missing: readonly string[], name: string, isDangling: boolean): Place {
    const path = join(this.path(), ...missing, name);
    assertAllowed(this.containment, this.request.asked, path, this.options.access);
    const parent = this.top().handle;
    this.steps.pop();
    return { parent, name, missing, path, isDangling, made: this.made };
  }

  private top(): Step {
    const step = this.steps.at(-1);
    if (step === undefined) throw new Error('a walk without a root');
    return step;
  }

  private at(name: string): string {
    return `${this.top().handle.at}/${name}`;
  }

  private path(): string {
    return join(this.root, ...this.steps.slice(1).map((step) => step.name));
  }
}
