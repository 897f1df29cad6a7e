import { Argument, Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { complete, type Names } from './complete.js';

const NAMES: Names = {
  tools: () => [
    { value: 'read_file', description: 'reads' },
    { value: 'run_command', description: 'runs' },
  ],
};

function program(): Command {
  const top = new Command('toolexec');
  top
    .command('run')
    .summary('run the calls')
    .argument('[file]')
    .option('--root <dir...>', 'directories')
    .option('--config <file>', 'a file')
    .addOption(new Option('--format <format>', 'as what').choices(['native', 'gemini']))
    .option('--yes', 'approve');
  top.command('call').argument('<tool>').argument('[json]');
  const tools = top.command('tools');
  tools.command('list').summary('every tool');
  tools.command('show').argument('<tool>');
  top.command('completions').addArgument(new Argument('<shell>').choices(['bash', 'zsh']));
  top.command('complete', { hidden: true });
  return top;
}

const values = (...words: string[]): string[] =>
  complete(program(), words, NAMES).candidates.map(({ value }) => value);
const places = (...words: string[]): string => complete(program(), words, NAMES).places;

describe('complete()', () => {
  it('offers the commands, and not the one that nobody types', () => {
    expect(values('')).toEqual(['run', 'call', 'tools', 'completions', 'help']);
    expect(values('r')).toEqual(['run']);
    expect(values('com')).toEqual(['completions']);
    expect(values()).toContain('run');
  });

  it('offers the commands of a group', () => {
    expect(values('tools', '')).toEqual(['list', 'show', 'help']);
    expect(complete(program(), ['tools', 'l'], NAMES).candidates).toEqual([
      { value: 'list', description: 'every tool' },
    ]);
  });

  it('offers tool names where a tool is meant, and nowhere else', () => {
    expect(values('call', 'r')).toEqual(['read_file', 'run_command']);
    expect(values('tools', 'show', 'run')).toEqual(['run_command']);
    expect(values('call', 'read_file', '')).toEqual([]);
  });

  it('offers options, even in front of arguments', () => {
    expect(values('run', '--')).toEqual(['--root', '--config', '--format', '--yes', '--help']);
    expect(values('run', 'response.json', '--y')).toEqual(['--yes']);
  });

  it('offers what an option takes', () => {
    expect(values('run', '--format', '')).toEqual(['native', 'gemini']);
    expect(values('run', '--format', 'g')).toEqual(['gemini']);
    expect(values('run', '--format=g')).toEqual(['--format=gemini']);
    expect(values('run', '--format', '=', 'g')).toEqual(['gemini']);
    expect(values('run', '--format', '=')).toEqual(['native', 'gemini']);
    expect(values('completions', '')).toEqual(['bash', 'zsh']);
  });

  it('leaves paths to the shell: files, or directories where only those are meant', () => {
    expect(places('run', '')).toBe('files');
    expect(places('run', '--config', '')).toBe('files');
    expect(places('run', '--root', 'a', '')).toBe('directories');
    expect(places('run', '--yes', '')).toBe('files');
    expect(places('run', '--format', '')).toBe('none');
    expect(places('run', 'a.json', '')).toBe('none');
    expect(places('call', '')).toBe('none');
  });

  it('offers nothing after what it does not know', () => {
    expect(values('nonsense', 'x')).toEqual([]);
    expect(values('run', '--nonsense=')).toEqual([]);
  });
});
