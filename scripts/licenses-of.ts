import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licences of the packages that these files belong to, each of which asks to go along with the code. */
export function licensesOf(files: readonly string[]): string {
  const packages = new Set<string>();
  for (const path of files) {
    const [place] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    if (place !== undefined) packages.add(place);
  }
  return [...packages]
    .sort()
    .map(licenseOf)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function licenseOf(place: string): string {
  const file = readdirSync(place).find((name) => /^licen[cs]e/i.test(name));
  const { name, version, license }: { name: string; version: string; license: string } = JSON.parse(
    readFileSync(join(place, 'package.json'), 'utf8'),
  );
  if (file === undefined) throw new Error(`Cannot bundle ${name}: it comes without its licence.`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(place, file), 'utf8').trim()}\n`;
}
