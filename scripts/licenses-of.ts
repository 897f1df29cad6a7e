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
  const { name, version, license }: { name: string; version: string; license: string } = JSON.parse(
    readFileSync(join(place, 'package.json'), 'utf8'),
  );
  const text = fileOf(place, /^licen[cs]e/i) ?? sectionOf(fileOf(place, /^readme/i));
  if (text === undefined) throw new Error(`Cannot bundle ${name}: it comes without its licence.`);
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}

function fileOf(place: string, pattern: RegExp): string | undefined {
  const file = readdirSync(place).find((each) => pattern.test(each));
  return file === undefined ? undefined : readFileSync(join(place, file), 'utf8');
}

/** Some packages have the whole text of their licence in their description, as its last section. */
function sectionOf(readme: string | undefined): string | undefined {
  const section = readme?.split(/^#+ *licen[cs]e *$/im)[1];
  return section !== undefined && /permission is hereby granted/i.test(section) ? section : undefined;
}
